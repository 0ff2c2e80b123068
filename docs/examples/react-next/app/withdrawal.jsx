'use client';

import { useConsent } from '@consent-ledger/react';

export function Withdrawal() {
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
