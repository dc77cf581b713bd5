// The tabs of a report of two runs, and the parameters in its address.

const TABS = [['summary', 'Summary'], ['items', 'Items'], ['about', 'How they were made']];
const DEFAULTS = { tab: 'summary', item: '', sample: '0', q: '', group: '', moved: '', reading: 'careful', sort: '', page: '1' };
const FILTERS = ['q', 'group', 'moved', 'reading'];
