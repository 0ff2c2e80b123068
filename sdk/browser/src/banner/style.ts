/**
 * The style of the banner, inside its shadow root. A site changes the custom properties on
 * `consent-banner`, or styles the parts. Contrast is at least 7:1 for text and 3:1 for borders.
 */
export const BANNER_STYLE = `\
:host{all:initial;color-scheme:light dark;--cl-text:#1c2127;--cl-background:#fff;--cl-accent:#0b57a4;--cl-on-accent:#fff;--cl-border:#6b7280;--cl-radius:8px;--cl-font:system-ui,sans-serif}\
@media (prefers-color-scheme:dark){:host{--cl-text:#e6e8eb;--cl-background:#1c2127;--cl-accent:#9cc4f2;--cl-on-accent:#10151b;--cl-border:#8b95a1}}\
*{box-sizing:border-box}\
section,dialog,.open{font:1rem/1.5 var(--cl-font);color:var(--cl-text);background:var(--cl-background);border:1px solid var(--cl-border);overflow-wrap:anywhere}\
section{position:fixed;bottom:0;inset-inline:0;z-index:2147483646;max-height:85vh;overflow:auto;padding:1rem max(1rem,calc(50% - 34rem));border-width:1px 0 0;box-shadow:0 -2px 12px #0004}\
dialog{width:min(44rem,calc(100% - 1rem));max-height:calc(100% - 2rem);padding:1.25rem;border-radius:var(--cl-radius)}\
dialog::backdrop{background:#000a}\
h2{font-size:1.15rem;margin:0 0 .25rem}\
h3{font-size:1rem;margin:0}\
p{margin:0 0 .75rem}\
ul{margin:.25rem 0;padding-inline-start:1.25rem}\
.row{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}\
.head{justify-content:space-between;align-items:flex-start;margin-bottom:.25rem}\
.category{border-top:1px solid var(--cl-border);padding-block:.75rem}\
.text{margin-bottom:.75rem;white-space:pre-wrap}\
label{display:flex;gap:.5rem;align-items:center;font-weight:600}\
input{width:1.5rem;height:1.5rem;margin:0;flex:none;accent-color:var(--cl-accent)}\
button,select,summary{font:inherit}\
button,select,summary,label{min-height:2.75rem;cursor:pointer}\
button,select{color:inherit;background:transparent;border:2px solid var(--cl-accent);border-radius:var(--cl-radius);padding:.25rem 1rem}\
.choice{color:var(--cl-on-accent);background:var(--cl-accent);font-weight:600;min-width:9rem}\
summary{display:list-item;padding-block:.6rem}\
:focus-visible{outline:3px solid var(--cl-accent);outline-offset:2px}\
.open{position:fixed;bottom:.75rem;inset-inline-start:.75rem;z-index:2147483645;border-color:var(--cl-accent)}\
.said{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}\
@media (max-height:24rem){section{position:static;max-height:none}}\
@media (min-height:40rem) and (min-width:36rem){.end{position:sticky;bottom:-1.25rem;margin:0 -1.25rem -1.25rem;padding:.75rem 1.25rem 1.25rem;background:inherit;border-top:1px solid var(--cl-border)}dialog{scroll-padding-bottom:9rem}}\
@media (max-width:30rem){section .choice{flex:1}}\
@media print{:host{display:none!important}}`;
