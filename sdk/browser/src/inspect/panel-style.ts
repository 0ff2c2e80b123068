/** Light and dark, from 320 pixels on. */
export const PANEL_STYLE = `
:host{all:initial;position:fixed;inset:0 0 auto auto;margin:0;border:0;padding:0;width:min(30rem,100vw);height:auto;max-height:75vh;background:none;color-scheme:light dark;z-index:2147483647}
*{box-sizing:border-box;font:inherit}
section{--line:#767676;--back:#fff;--text:#1a1a1a;--bad:#a8071a;--good:#0b6623;display:flex;flex-direction:column;max-height:75vh;background:var(--back);color:var(--text);border:2px solid var(--line);font:14px/1.45 system-ui,sans-serif}
@media(prefers-color-scheme:dark){section{--line:#8c8c8c;--back:#16181d;--text:#f0f0f0;--bad:#ff9b9b;--good:#8fdc9d}}
.top{display:flex;justify-content:space-between;align-items:center;padding:.5rem .75rem;border-bottom:1px solid var(--line)}
h2,h3{margin:0;font-weight:700}
h2{font-size:1.1em}
h3{margin-top:1rem}
h3:first-child{margin-top:0}
.body{overflow:auto;padding:.75rem;overflow-wrap:anywhere}
ol,dl,p{margin:.35rem 0;padding:0;list-style:none}
li{padding:.3rem 0 .3rem .6rem;border-inline-start:3px solid var(--line);margin:.3rem 0}
li.wrong{border-color:var(--bad)}
li.open{border-color:var(--good)}
strong,dt{font-weight:700}
.wrong strong{color:var(--bad)}
.open strong{color:var(--good)}
code{font-family:ui-monospace,monospace;font-size:.93em}
dd{margin:0 0 .3rem}
label{display:block;margin:.4rem 0}
label select{display:block;width:100%}
label.line{display:flex;gap:.5rem;align-items:center}
select,button{min-height:2rem;background:var(--back);color:var(--text);border:1px solid var(--line);border-radius:4px;padding:.2rem .6rem}
button{cursor:pointer;font-weight:600}
:focus-visible{outline:3px solid #4c8dff;outline-offset:1px}
.promise{font-weight:700;border:2px solid var(--line);padding:.4rem}
.trial iframe{display:block;width:100%;height:min(34rem,60vh);border:3px dashed var(--line);background:#fff}
`;
