import { COLOURS, designTokens } from '../../../schemas/design/tokens.js';

/** The style of a report, on a screen and on paper. */
export const REPORT_STYLE = `
${designTokens('device')}body { margin: 0; background: var(--page); color: var(--text); font: 100%/1.5 var(--font); }
article { max-width: 56rem; margin: 2rem auto; padding: 2rem 2.5rem; background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); }
h1 { margin: 0 0 1rem; font-size: 1.65rem; line-height: 1.2; }
h2 { margin: 2rem 0 .6rem; font-size: 1.15rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
h3 { margin: 1.2rem 0 .4rem; font-size: 1rem; }
p { margin: .4rem 0; }
ul { margin: .4rem 0; padding-left: 1.3rem; }
li { margin: .25rem 0; }
code, pre { font-family: var(--mono); font-size: .85em; overflow-wrap: anywhere; }
pre { margin: .5rem 0; padding: .8rem 1rem; background: var(--side); border: 1px solid var(--line); border-radius: 6px; white-space: pre-wrap; }
.prose { font: inherit; }
.picture { display: block; max-width: 100%; max-height: 20rem; margin: .5rem 0; padding: .5rem; background: #fff; border: 1px solid var(--line); border-radius: 6px; }
.certificate dl { font-size: 1.05rem; }
.certificate dd { font-weight: 600; }
dl { display: grid; grid-template-columns: minmax(9rem, auto) 1fr; gap: .25rem 1.2rem; margin: .4rem 0; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-size: .92rem; }
caption { text-align: left; color: var(--muted); padding: .3rem 0; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem .4rem 0; border-bottom: 1px solid var(--line); }
th[scope=row] { font-weight: 400; white-space: nowrap; }
.verdict { display: flex; gap: 1.2rem; align-items: center; margin: 0 0 1rem; padding: 1.4rem 1.6rem; border: 2px solid; border-radius: 8px; }
.verdict p { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.verdict .sign, .verdict p > span { display: block; }
.verdict strong { display: block; font-size: 2rem; line-height: 1.15; }
.verdict .statement { font-size: 1.25rem; font-weight: 600; line-height: 1.35; margin: .2rem 0; }
.verdict .sign { flex: none; width: 4.2rem; height: 4.2rem; border-radius: 50%; color: var(--on-accent); font-size: 2.6rem; font-weight: 700; line-height: 4.2rem; text-align: center; }
.valid { background: var(--good-soft); border-color: var(--good-line); }
.valid .sign { background: var(--good-line); }
.invalid { background: var(--bad-soft); border-color: var(--bad-line); }
.invalid .sign { background: var(--bad-line); border-radius: 8px; }
.indeterminate { background: var(--warning-soft); border-color: var(--warning-line); }
.indeterminate .sign { background: var(--warning-line); }
.stated { background: var(--side); border-color: var(--series-4); }
.stated .sign { background: var(--series-4); }
.verdict .when, .verdict .who { font-weight: 600; }
.contents { display: none; }
.all-details { display: block; margin: .4rem 0; }
/* The contents of closed details are in the page, and the reader can show all of them. */
article:has(.all-details input:checked) details::details-content { display: block; height: auto; content-visibility: visible; }
summary { cursor: pointer; }
.records { font-size: .85rem; }
.records td:nth-child(n + 5) { min-width: 5rem; overflow-wrap: anywhere; }
.records dl { grid-template-columns: 1fr; gap: 0; margin: .2rem 0 .4rem; }
.records dd { margin: 0 0 .2rem; }
.proved { font-size: 1.05rem; }
.mark { font-weight: 700; white-space: nowrap; }
.pass { color: var(--good); }
.fail { color: var(--bad); }
.open { color: var(--warning); }
.none { color: var(--muted); }
.attention { padding: .6rem 1rem; background: var(--bad-soft); border: 1px solid var(--bad); border-radius: 6px; }
.id { color: var(--muted); }
.problem { margin: .15rem 0; }
@media screen and (max-width: 40rem) { article { margin: 0; padding: 1.2rem; border: 0; border-radius: 0; } .verdict { align-items: flex-start; gap: .8rem; padding: .8rem; } .verdict strong { font-size: 1.5rem; overflow-wrap: anywhere; } .verdict .statement { font-size: 1.05rem; } .verdict .sign { width: 2.4rem; height: 2.4rem; font-size: 1.5rem; line-height: 2.4rem; } dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } thead { display: none; } table, tbody, caption { display: block; } tr { display: block; padding: .4rem 0; border-bottom: 1px solid var(--line); } th, td { display: block; padding: 0; border: 0; overflow-wrap: anywhere; } }
/* Margin boxes state the page and their number in every language. */
@page { margin: 16mm 15mm 18mm; @bottom-right { content: counter(page) " / " counter(pages); font: 9pt system-ui, sans-serif; color: ${COLOURS.muted[0]}; } }
@media print { :root { font-size: 10pt; } body { background: #fff; font-size: 1rem; } article { margin: 0; padding: 0; border: 0; max-width: none; counter-reset: section; } h2, h3 { break-after: avoid; } tr, .verdict, li { break-inside: avoid; } .verdict .sign { print-color-adjust: exact; } .contents { display: block; break-after: page; } .contents a { color: inherit; text-decoration: none; } article > section[id] > h2::before { counter-increment: section; content: counter(section) ". "; } .all-details { display: none; } summary { list-style: none; } .records { table-layout: fixed; font-size: 7.5pt; line-height: 1.3; } .records th, .records td { padding: .6mm 1.5mm .6mm 0; } .records caption { break-after: avoid; } .records td:nth-child(n + 5) { min-width: 0; } .records th { width: 10.5%; } .records th:nth-child(2), .records th:nth-child(3) { width: 17.5%; } .records th:nth-child(4) { width: 11.5%; } .records th:nth-child(5) { width: 18.5%; } .records th:nth-child(6) { width: 14.5%; } .records th:nth-child(7) { width: 10%; } }
/* On paper, details take the width of the page, below the row of their record. */
@media print { article:has(.all-details input:checked) { .records, .records caption, .records tbody { display: block; } .records thead { display: none; } .records tbody tr { display: grid; grid-template-columns: 10.5fr 17.5fr 17.5fr 11.5fr 18.5fr 14.5fr 10fr; } .records th, .records td { width: auto; border: 0; } .records tr { border-bottom: 1px solid var(--line); } .records td:nth-child(6), .records details { display: contents; } .records summary { grid-row: 1; grid-column: 6; padding: .6mm 1.5mm .6mm 0; } .records td:nth-child(7) { grid-row: 1; grid-column: 7; } .records details::details-content { grid-column: 1 / -1; grid-row: 2; } .records dl { grid-template-columns: auto 1fr auto 1fr; gap: 0 3mm; } } }
`;
