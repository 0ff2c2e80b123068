// A page by Vite and React: the banner of the SDK, and content that waits for consent.
import { Banner, ConsentProvider, Gate, SettingsButton, useConsent } from '@consent-ledger/react';
import { PlaceholderGate } from '@consent-ledger/react/placeholder';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

const { VITE_CONSENT_SERVICE, VITE_CONSENT_KEY } = import.meta.env;

function Withdrawal() {
  const { status, choice, withdraw } = useConsent();
  return (
    <p>
      <output>{choice?.decision ?? status}</output>{' '}
      <button type="button" id="withdraw" onClick={() => withdraw()}>
        Withdraw
      </button>
    </p>
  );
}

createRoot(document.getElementById('root')).render(
  <StrictMode>
    <ConsentProvider baseUrl={VITE_CONSENT_SERVICE} apiKey={VITE_CONSENT_KEY}>
      <Banner />
      <main>
        <h1>Everything for the garden</h1>
        <Gate category="analytics" fallback={<p id="closed">Statistics are off.</p>}>
          <p id="open">Statistics are on.</p>
        </Gate>
        <PlaceholderGate
          category="marketing"
          placeholder={{ title: 'Our garden in June', 'data-consent-recipient': 'Example Films Ltd.' }}
        >
          <iframe title="Our garden in June" src="/film.html" />
        </PlaceholderGate>
        <Withdrawal />
      </main>
      <footer>
        <SettingsButton>Cookie settings</SettingsButton>
      </footer>
    </ConsentProvider>
  </StrictMode>,
);
