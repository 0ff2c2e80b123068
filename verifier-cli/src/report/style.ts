/** The look of a report, on a screen and on paper. */
export const REPORT_STYLE = `
:root { color-scheme: light; }
body { margin: 0; background: #f4f5f7; color: #1b1f24; font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
article { max-width: 56rem; margin: 2rem auto; padding: 2rem 2.5rem; background: #fff; border: 1px solid #d5d9de; border-radius: 8px; }
h1 { margin: 0 0 1rem; font-size: 1.6rem; line-height: 1.25; }
h2 { margin: 2rem 0 .6rem; font-size: 1.15rem; border-bottom: 1px solid #d5d9de; padding-bottom: .25rem; }
h3 { margin: 1.2rem 0 .4rem; font-size: 1rem; }
p { margin: .4rem 0; }
ul { margin: .4rem 0; padding-left: 1.3rem; }
li { margin: .25rem 0; }
code, pre { font-family: ui-monospace, "SFMono-Regular", Consolas, "Liberation Mono", monospace; font-size: .85em; overflow-wrap: anywhere; }
pre { margin: .5rem 0; padding: .8rem 1rem; background: #f4f5f7; border: 1px solid #d5d9de; border-radius: 6px; white-space: pre-wrap; }
.prose { font: inherit; }
.picture { display: block; max-width: 100%; max-height: 20rem; margin: .5rem 0; padding: .5rem; background: #fff; border: 1px solid #d5d9de; border-radius: 6px; }
.certificate dl { font-size: 1.05rem; }
.certificate dd { font-weight: 600; }
dl { display: grid; grid-template-columns: minmax(9rem, auto) 1fr; gap: .25rem 1.2rem; margin: .4rem 0; }
dt { color: #515963; }
dd { margin: 0; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-size: .92rem; }
caption { text-align: left; color: #515963; padding: .3rem 0; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem .4rem 0; border-bottom: 1px solid #e6e9ec; }
th[scope=row] { font-weight: 400; white-space: nowrap; }
.verdict { display: flex; gap: 1.2rem; align-items: center; margin: 0 0 1rem; padding: 1.4rem 1.6rem; border: 2px solid; border-radius: 8px; }
.verdict p { margin: 0; }
.verdict span { display: block; }
.verdict strong { display: block; font-size: 2rem; line-height: 1.15; }
.verdict .statement { font-size: 1.25rem; font-weight: 600; line-height: 1.35; margin: .2rem 0; }
.verdict .sign { flex: none; width: 4.2rem; height: 4.2rem; border-radius: 50%; color: #fff; font-size: 2.6rem; font-weight: 700; line-height: 4.2rem; text-align: center; }
.valid { background: #e8f5ec; border-color: #1a7f45; }
.valid .sign { background: #1a7f45; }
.invalid { background: #fdecea; border-color: #b3261e; }
.invalid .sign { background: #b3261e; border-radius: 8px; }
.indeterminate { background: #fff6dd; border-color: #8a6100; }
.indeterminate .sign { background: #8a6100; }
.records td p { margin: 0; font-size: .85rem; }
.records td:nth-child(2) { white-space: nowrap; }
.records code { font-size: .75em; }
.proved { font-size: 1.05rem; }
.mark { font-weight: 700; white-space: nowrap; }
.pass { color: #14683a; }
.fail { color: #b3261e; }
.open { color: #7a5500; }
.none { color: #515963; }
.attention { padding: .6rem 1rem; background: #fdecea; border: 1px solid #b3261e; border-radius: 6px; }
.id { color: #515963; }
.problem { margin: .15rem 0; }
@media (max-width: 40rem) { article { margin: 0; padding: 1.2rem; border: 0; border-radius: 0; } dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } thead { display: none; } tr { display: block; padding: .4rem 0; border-bottom: 1px solid #e6e9ec; } th, td { display: block; padding: 0; border: 0; } }
@media print { body { background: #fff; font-size: 11pt; } article { margin: 0; padding: 0; border: 0; max-width: none; } h2, h3 { break-after: avoid; } tr, .verdict, li { break-inside: avoid; } .verdict .sign { print-color-adjust: exact; } }
`;
