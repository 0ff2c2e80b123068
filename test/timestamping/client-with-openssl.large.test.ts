import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyTimestamp } from '../../schemas/rfc3161/verify.js';
import { createTimestampClient } from '../../src/timestamping/client.js';
import { TimestampUnavailable } from '../../src/timestamping/stamping.js';
import { titleNeeding } from '../support/missing-tools.js';
import { hasOpenssl, OPENSSL_KEYS, type OpensslTsa, startOpensslTsa } from '../support/openssl-tsa.js';

const DATA = new TextEncoder().encode('a checkpoint\n');

if (!hasOpenssl) console.warn('The openssl command is not there: the tests against its authority are skipped.');

describe.skipIf(!hasOpenssl)(titleNeeding('openssl', hasOpenssl, 'client with an openssl authority'), () => {
  it.each(Object.keys(OPENSSL_KEYS) as (keyof typeof OPENSSL_KEYS)[])('stamps with a key of %s', async (key) => {
    const tsa = await startOpensslTsa({ key });
    try {
      const client = createTimestampClient({ authorities: [tsa.url], trustAnchors: [tsa.root] });
      const stamp = await client.stamp(DATA);
      expect(stamp.report.outcome).toBe('pass');
      expect(stamp.gatheringProblems).toEqual([]);
      expect(stamp.certificates).toHaveLength(3);
      expect(stamp.crls).toHaveLength(2);
      expect(stamp.ocspResponses).toHaveLength(1);
      expect(stamp.genTimeText).toMatch(/^\d{14}(\.\d{1,6})?Z$/);
      expect(['provisional', 'conclusive']).toContain(stamp.report.revocation);
    } finally {
      await tsa.stop();
    }
  });

  describe('of one kind', () => {
    let tsa: OpensslTsa;
    beforeAll(async () => {
      tsa = await startOpensslTsa({ key: 'P-256', embedChain: false });
    });
    afterAll(() => tsa.stop());

    it('needs a configured intermediate if the token lacks it', async () => {
      const without = createTimestampClient({ authorities: [tsa.url], trustAnchors: [tsa.root] });
      await expect(without.stamp(DATA)).rejects.toThrow('tst.path');
      const untrusted = [tsa.intermediate];
      const client = createTimestampClient({ authorities: [tsa.url], trustAnchors: [tsa.root], untrusted });
      expect((await client.stamp(DATA)).report.outcome).toBe('pass');
      const pinned = createTimestampClient({ authorities: [tsa.url], trustAnchors: [tsa.intermediate] });
      expect((await pinned.stamp(DATA)).certificates).toHaveLength(2);
    });

    it('requests a policy, and refuses any other', async () => {
      const options = { authorities: [tsa.url], trustAnchors: [tsa.intermediate] };
      const asking = createTimestampClient({ ...options, requestedPolicy: '1.3.6.1.4.1.4146.2.4' });
      expect((await asking.stamp(DATA)).report.claims?.policy).toBe('1.3.6.1.4.1.4146.2.4');
      const choosy = createTimestampClient({ ...options, allowedPolicies: ['1.3.6.1.4.1.4146.2.4'] });
      await expect(choosy.stamp(DATA)).rejects.toThrow('tst.policy');
      const refused = createTimestampClient({ ...options, requestedPolicy: '1.2.3' });
      await expect(refused.stamp(DATA)).rejects.toThrow('unacceptedPolicy');
    });

    it('accepts an OCSP response alone', async () => {
      const client = createTimestampClient({ authorities: [tsa.url], trustAnchors: [tsa.intermediate] });
      const { response, ocspResponses, certificates } = await client.stamp(DATA);
      const trustAnchors = certificates.slice(-1);
      const input = { token: response, stamped: { data: DATA }, trustAnchors, at: new Date() } as const;
      const withAnswer = await verifyTimestamp({ ...input, ocspResponses, revocation: 'require' });
      expect(withAnswer.outcome).toBe('pass');
      expect(withAnswer.checks.find(({ id }) => id === 'tst.revocation')?.message).toContain('OCSP response of');
      expect((await verifyTimestamp({ ...input, revocation: 'require' })).outcome).toBe('indeterminate');
    });

    it('refuses a token of a revoked authority', async () => {
      await tsa.revoke('keyCompromise');
      const client = createTimestampClient({ authorities: [tsa.url], trustAnchors: [tsa.intermediate] });
      const failure = await client.stamp(DATA).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(TimestampUnavailable);
      expect(String(failure)).toContain('tst.revocation');
    });
  });
});
