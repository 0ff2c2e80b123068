import type { Sheets } from '../style.js';

/** The frozen layout version 2. Records that state it are drawn as the person saw it, so it must never change. */
export const SHEETS_OF_VERSION_2: Sheets = {
  shared: `\
*{box-sizing:border-box}\
.first,.settings,.open,.said{font:1rem/1.5 var(--cl-font);color:var(--cl-text);background:var(--cl-background);border:1px solid var(--cl-border);overflow-wrap:anywhere}\
.first,.settings{border-radius:var(--cl-radius);padding:1.25rem}\
h2{font-size:1.2rem;line-height:1.3;margin:0 0 .35rem}\
h2:focus{outline:0}\
h3{font-size:1rem;margin:0}\
p{margin:0 0 .75rem}\
ul{margin:.25rem 0;padding-inline-start:1.25rem}\
.row{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}\
.head{justify-content:space-between;align-items:flex-start;margin-bottom:.25rem}\
.choices{display:flex;flex-wrap:wrap;gap:.5rem;background:inherit}\
.choices>*{flex:1 1 9rem}\
.choices>:not(.choice){flex-basis:100%}\
.small{display:flex;flex-wrap:wrap;gap:.1rem 1rem;align-items:center;font-size:.875rem;margin:.5rem 0 0}\
.category{border-top:1px solid var(--cl-border);padding-block:.75rem}\
.text{margin-bottom:.75rem;white-space:pre-wrap}\
label{display:flex;gap:.5rem;align-items:center;font-weight:600}\
input{width:1.5rem;height:1.5rem;margin:0;flex:none;accent-color:var(--cl-accent)}\
button,select,summary{font:inherit}\
button,select,summary,label{min-height:2.75rem;cursor:pointer}\
button,select{color:inherit;background:transparent;border:2px solid var(--cl-accent);border-radius:var(--cl-radius);padding:.25rem 1rem}\
.choice{color:var(--cl-on-accent);background:var(--cl-accent);font-weight:600;min-width:9rem}\
[part=reject]{color:var(--cl-on-reject);background:var(--cl-reject);border-color:var(--cl-reject)}\
select{border:1px solid var(--cl-border);padding:.25rem .5rem}\
.link{border:0;padding:0;text-decoration:underline}\
a{color:inherit}\
summary{display:list-item;padding-block:.6rem}\
:focus-visible{outline:3px solid var(--cl-accent);outline-offset:2px}\
.foot{margin:.75rem -1.25rem -1.25rem;padding:.75rem 1.25rem 1.25rem;border-top:1px solid var(--cl-border);border-radius:inherit}`,
  wide: `\
.bar{display:grid;grid-template-columns:1fr minmax(18rem,auto);column-gap:2rem;padding-inline:max(1.25rem,calc(50% - 36rem))}\
.bar .choices{grid-column:2;grid-row:1/4;align-self:center;max-width:24rem}\
.bar>*{grid-column:1}`,
  narrow: '.foot>[part=save]{flex-basis:100%}',
  drawn: `\
:host{display:flex;overflow:hidden;flex-direction:column;justify-content:flex-end;min-height:20rem;background:#9ca3af33;border:1px solid #9ca3af;break-inside:avoid}\
dialog{display:block;position:static;max-width:100%;margin:1.5rem auto;width:min(44rem,calc(100% - 1rem))}\
.dialog{width:min(34rem,calc(100% - 1rem))}\
.bar{border-width:1px 0 0;border-radius:0}\
.box{width:min(26rem,calc(100% - 2rem));margin:1rem}\
.box.end{align-self:flex-end}\
button,select,summary,label{cursor:default}\
input{opacity:1}\
[data-used]{outline:4px solid #d6006c;outline-offset:3px}`,
};
