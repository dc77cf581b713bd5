// The tabs of a report of several runs, and the parameters in its address.

const TABS = [['summary', 'Summary'], ['items', 'Items'], ['about', 'How they were made']];
const DEFAULTS = { tab: 'summary', item: '', sample: '0', q: '', group: '', moved: '', reading: 'careful', a: '0', b: '1', sort: '', page: '1' };
const FILTERS = ['q', 'group', 'moved', 'reading', 'a', 'b'];
