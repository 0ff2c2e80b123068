const { consent, banner } = window.consentLedger;

// Called at once, and again at each change.
consent.subscribe(({ status, choice }) => {
  document.querySelector('output').textContent = choice?.decision ?? status;
});

// Whether the visitor permits a category, for code that runs now.
document.querySelector('#basket').addEventListener('click', () => {
  if (consent.allows('analytics')) navigator.sendBeacon('https://statistics.example/basket');
});

// Permits one category, or one of its services where they have switches. The earlier answers stay, because
// they are named; what is not named is refused.
document.querySelector('#films').addEventListener('click', () => {
  const { categories, services } = consent.state.choice ?? {};
  consent.choose({ ...categories, media: true }, undefined, { ...services, youtube: true });
});

// Opens the settings from an element of your own.
document.querySelector('#settings').addEventListener('click', async () => (await banner).openSettings());

// After a withdrawal. `left` has the names of declared cookies that only your server can delete.
document.addEventListener('consent-ledger-withdrawn', ({ detail }) => {
  console.log('deleted', detail.deleted, 'left', detail.left);
});
