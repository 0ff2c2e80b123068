// A single-page app without a framework: the router replaces what is in `main`, and the SDK gates what comes.
const VIEWS = {
  '/': '<h1>Everything for the garden</h1>',
  '/film': `<h1>Our garden in June</h1>
    <iframe data-consent="media" data-consent-src="https://films.example/june" data-consent-placeholder
      data-consent-recipient="Example Films Ltd." title="Our garden in June" width="560" height="315"></iframe>`,
};
const { consent } = window.consentLedger;

let counted;

/** Counts the view that is shown: once, and only if the visitor permits it. */
function count() {
  const { pathname } = location;
  if (pathname === counted || !consent.allows('analytics')) return;
  counted = pathname;
  navigator.sendBeacon('https://statistics.example/view', pathname);
}

function show(path) {
  document.querySelector('main').innerHTML = VIEWS[path] ?? VIEWS['/'];
  count();
}

// At once, and whenever the visitor's choice changes.
consent.subscribe(count);

document.addEventListener('click', (event) => {
  const link = event.target.closest('nav a');
  if (link === null) return;
  event.preventDefault();
  history.pushState(null, '', link.href);
  show(location.pathname);
});
window.addEventListener('popstate', () => show(location.pathname));
show(location.pathname);
