import { Gate } from '@consent-ledger/react';
import { PlaceholderGate } from '@consent-ledger/react/placeholder';
import { Withdrawal } from './withdrawal.jsx';

export default function Page() {
  return (
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
  );
}
