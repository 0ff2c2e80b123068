import { type TimestampCheck, type TimestampCheckId, wasNotMade } from '../../../schemas/rfc3161/report.js';
import { type Finding, finding } from '../findings/finding.js';

/** Code of the finding for each check of a token. */
const FAILED = {
  'tst.format': 'tst-format',
  'tst.status': 'tst-status',
  'tst.content-type': 'tst-content-type',
  'tst.version': 'tst-version',
  'tst.single-signer': 'tst-single-signer',
  'tst.signed-attributes': 'tst-signed-attributes',
  'tst.imprint': 'tst-imprint',
  'tst.signer-certificate': 'tst-signer-certificate',
  'tst.signature': 'tst-signature',
  'tst.ess': 'tst-ess',
  'tst.eku': 'tst-eku',
  'tst.key-usage': 'tst-key-usage',
  'tst.not-ca': 'tst-not-ca',
  'tst.path': 'tst-path',
  'tst.revocation': 'tst-revocation',
  'tst.algorithms': 'tst-algorithms',
  'tst.policy': 'tst-policy',
  'tst.nonce': 'tst-nonce',
  'tst.extensions': 'tst-extensions',
  'tst.tsa-name': 'tst-tsa-name',
  'tst.time': 'tst-time',
} as const satisfies Record<TimestampCheckId, string>;

/**
 * Returns the finding for a check of a token. The kind of the finding has a sentence in every
 * language. Its detail comes from the reader of tokens (RFC 3161) and certificates, which knows
 * English only.
 */
export function tokenFinding(check: TimestampCheck): Finding {
  return finding(codeOf(check), { detail: check.message });
}

function codeOf(check: TimestampCheck) {
  if (check.outcome === 'fail') return FAILED[check.id];
  if (check.outcome !== 'indeterminate') return 'tst-note';
  return wasNotMade(check) ? 'tst-not-checked' : 'tst-undecided';
}
