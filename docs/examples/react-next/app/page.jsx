import { Gate } from '@consent-ledger/react';
import { Withdrawal } from './withdrawal.jsx';

export default function Page() {
  return (
    <main>
      <h1>Everything for the garden</h1>
      <Gate category="analytics" fallback={<p id="closed">Statistics are off.</p>}>
        <p id="open">Statistics are on.</p>
      </Gate>
      <Withdrawal />
    </main>
  );
}
