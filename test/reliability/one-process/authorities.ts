import { sha256 } from '../../../schemas/crypto/digest.js';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import type { TimestampReport } from '../../../schemas/rfc3161/report.js';
import { verifyTimestamp } from '../../../schemas/rfc3161/verify.js';
import type { ObtainedTimestamp, TimestampClient } from '../../../src/timestamping/client.js';

const DAY_MS = 86_400_000;

/** The report on bytes that are no token: the simulation has no certificates, and nothing verifies its stamps. */
export function reportOnNothing(): Promise<TimestampReport> {
  const stamped = { data: new Uint8Array(0) };
  return verifyTimestamp({
    token: new Uint8Array(0),
    stamped,
    trustAnchors: [],
    untrusted: [],
    revocation: 'ignore',
    at: new Date(),
  });
}

/**
 * Authorities that answer at once, each with its own time stamp for each request.
 * @param onStamped receives what was stamped
 */
export function simulatedAuthorities(
  names: readonly string[],
  report: TimestampReport,
  onStamped: (note: string) => void,
): TimestampClient {
  let issued = 0;
  return {
    stamp: async (data, { previous, exclude = [] } = {}): Promise<ObtainedTimestamp> => {
      const organization = names.find((name) => !exclude.includes(name));
      if (organization === undefined) throw new Error('no other authority is configured');
      const genTime = new Date();
      if (previous !== undefined && previous.genTime.getTime() > genTime.getTime() + DAY_MS / 2)
        throw new Error('the time stamp before is of another day');
      onStamped(Buffer.from(data).toString('utf8'));
      issued += 1;
      return {
        response: sha256(utf8(`${organization} ${issued}`)),
        authority: `https://${organization}.example`,
        organization,
        genTime,
        genTimeText: genTime.toISOString(),
        accuracyMicroseconds: undefined,
        serial: issued.toString(16),
        report,
        certificates: [utf8(`certificate of ${organization}`)],
        // Revocation data is new from time to time.
        crls: [utf8(`revocation list ${Math.floor(issued / 2)} of ${organization}`)],
        ocspResponses: [],
        gatheringProblems: [],
      };
    },
  };
}
