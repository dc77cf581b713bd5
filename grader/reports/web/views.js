// The tabs of a report of one run, and the parameters in its address.

const TABS = [['summary', 'Summary'], ['differences', 'Where they differ'], ['items', 'Items'], ['about', 'How it was made']];
const DEFAULTS = { tab: 'summary', item: '', sample: '0', q: '', deep: '', official: '', careful: '', group: '', differs: '', sort: '', page: '1' };
const FILTERS = ['q', 'deep', 'official', 'careful', 'group', 'differs'];
