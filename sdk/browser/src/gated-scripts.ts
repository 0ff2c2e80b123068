/** Those that wait for nothing are never permitted. */
const SELECTOR = 'script[type="text/plain"]';
/** Types of classic scripts that browsers run (HTML, “JavaScript MIME type”), and of modules. */
const RUNS = /^(|module|(text|application)\/(x-)?(java|ecma)script)$/i;

/**
 * The gated scripts of a page, run in the order in which the page has them, as the HTML standard
 * orders scripts: those with `async` when they arrive; classic ones one after the other; then those
 * with `defer`, and modules.
 *
 * No script runs before the page is parsed: until then, the text of a script may be half there, and the
 * order of the scripts unknown.
 * @param isPermitted called for each script when its turn comes @param onRun called with each script that runs
 * @returns a function that runs the permitted scripts whose turn it is. A script that is loading delays those after it
 */
export function gatedScripts(
  isPermitted: (element: HTMLElement) => boolean,
  onRun: (element: HTMLElement) => void,
): () => void {
  let isWaiting = false;
  const start = (gated: HTMLScriptElement): void => {
    const script = runnable(gated);
    onRun(gated);
    const { type = '' } = gated.dataset;
    const isModule = type === 'module';
    if (!isAsync(gated) && (script.src !== '' || isModule) && RUNS.test(type) && !(script.noModule && !isModule)) {
      isWaiting = true;
      const goOn = (): void => {
        isWaiting = false;
        run();
      };
      script.addEventListener('load', goOn);
      script.addEventListener('error', goOn);
      gated.replaceWith(script);
    } else withoutWriting(() => gated.replaceWith(script));
  };
  const run = (): void => {
    if (document.readyState === 'loading') return;
    for (;;) {
      const permitted = [...document.querySelectorAll<HTMLScriptElement>(SELECTOR)].filter(isPermitted);
      const next =
        permitted.find(isAsync) ??
        (isWaiting ? undefined : (permitted.find((script) => !isDeferred(script)) ?? permitted[0]));
      if (next === undefined) return;
      start(next);
    }
  };
  return run;
}

/** A copy that the browser runs: it runs a script once, when it is inserted with a type that it knows. */
function runnable(gated: HTMLScriptElement): HTMLScriptElement {
  const script = document.createElement('script');
  for (const { name, value } of gated.attributes) {
    if (!/^(type|data-consent(-service)?)$/.test(name)) script.setAttribute(name, value);
  }
  const { type } = gated.dataset;
  if (type !== undefined) script.type = type;
  // Browsers hide the attribute from scripts, but not the property.
  script.nonce = gated.nonce;
  script.async = isAsync(gated);
  script.text = gated.text;
  return script;
}

/**
 * `async` only counts for scripts that are loaded, and for modules. The attribute decides, because browsers set the
 * property on each script of a type that they do not run.
 */
function isAsync(script: HTMLScriptElement): boolean {
  return script.hasAttribute('async') && (script.src !== '' || script.dataset.type === 'module');
}

function isDeferred({ defer, src, dataset }: HTMLScriptElement): boolean {
  return dataset.type === 'module' || (defer && src !== '');
}

/** After a page is parsed, `document.write` would replace all of it. */
function withoutWriting(run: () => void): void {
  const refuse = (): void => console.error('Consent Ledger: a gated script must not call document.write.');
  const { write, writeln } = document;
  Object.assign(document, { write: refuse, writeln: refuse });
  run();
  Object.assign(document, { write, writeln });
}
