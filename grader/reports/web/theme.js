// The choice between the light theme, the dark theme and the system's theme.

function themes() {
  const button = byId('theme');
  const order = ['auto', 'light', 'dark'];
  const keep = (name) => { try { localStorage.setItem('grade-theme', name); } catch { /* a local file may not be allowed to store data */ } };
  const kept = () => { try { return localStorage.getItem('grade-theme'); } catch { return null; } };
  const show = (name) => {
    if (name === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    button.textContent = `Theme: ${name}`;
  };
  let now = order.includes(kept()) ? kept() : 'auto';
  show(now);
  button.hidden = false;
  button.addEventListener('click', () => {
    now = order[(order.indexOf(now) + 1) % order.length];
    show(now);
    keep(now);
  });
}
