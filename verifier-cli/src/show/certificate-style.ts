/**
 * The style of a certificate: one sheet, on A4 and on Letter. Every part has a height of its own and cuts what is
 * longer, so that no text of a record moves another part or makes a second page.
 */
export const CERTIFICATE_STYLE = `
@page certificate { margin: 12mm; @bottom-right { content: none; } }
.paper { page: certificate; position: relative; box-sizing: border-box; max-width: 210mm; padding: 12mm; overflow: hidden; font-size: 9pt; line-height: 1.35; }
.paper h1 { font-size: 15pt; margin: 0 0 1mm; }
.paper h2 { font-size: 9.5pt; margin: 2.5mm 0 .5mm; padding: 0; border: 0; }
.paper p { margin: .5mm 0; }
.paper .verdict { gap: 3mm; margin: 1.5mm 0 0; padding: 1.5mm 3mm; max-height: 17mm; overflow: hidden; }
.paper .verdict strong { font-size: 12pt; }
.paper .verdict .sign { width: 9mm; height: 9mm; line-height: 9mm; font-size: 14pt; print-color-adjust: exact; }
.paper dl { grid-template-columns: 36mm 1fr; gap: .3mm 3mm; margin: 2mm 0 0; font-size: 9pt; max-height: 80mm; overflow: hidden; }
.paper dt, .paper dd { overflow: hidden; max-height: 2lh; }
.paper dd:nth-of-type(2) { max-height: 4lh; }
.paper dd { font-weight: 600; }
.paper > * { flex: none; }
.paper .asked { flex: 0 1 auto; min-height: 24mm; overflow: hidden; }
.paper .frame { position: relative; height: 60mm; overflow: hidden; contain: strict; border: 1px solid var(--line); border-radius: 2mm; }
.paper .frame .drawing { width: 200%; transform: scale(.5); transform-origin: 0 0; }
.paper .words pre { margin: 0; padding: 1.5mm 2mm; max-height: 15mm; overflow: hidden; font: inherit; }
.paper ol { margin: 0; padding-left: 5mm; max-height: 25mm; overflow: hidden; }
.paper li { margin: 0; }
.paper .attention { max-height: 2lh; overflow: hidden; }
.paper .check { margin-top: 2mm; padding: 1.5mm 2mm; max-height: 34mm; overflow: hidden; border: 1px solid var(--line); border-radius: 2mm; }
.paper code { font-size: 8pt; }
.paper .signature { display: grid; grid-template-columns: repeat(3, 1fr); gap: 5mm; margin-top: 9mm; }
.paper .signature span { border-top: 1px solid var(--text); padding-top: .5mm; }
.paper .across { position: absolute; z-index: 1; inset: 90mm 0 auto; margin: 0; text-align: center; transform: rotate(-24deg); font-size: 78pt; font-weight: 800; line-height: 1; letter-spacing: .04em; color: var(--bad); opacity: .55; pointer-events: none; print-color-adjust: exact; }
@media screen and (max-width: 40rem) { .paper { padding: 4mm; } .paper dl { grid-template-columns: 1fr; max-height: none; } .paper .signature { grid-template-columns: 1fr; } .paper .across { font-size: 40pt; } }
@media print { .paper { max-width: none; padding: 0; height: 250mm; display: flex; flex-direction: column; break-after: page; break-inside: avoid; } .paper:last-child { break-after: auto; } }
`;
