import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import {
  basicConstraints,
  CA_EXTENSIONS,
  extendedKeyUsage,
  keyUsage,
  makeCertificate,
  SERVER_AUTH,
  TIME_STAMPING,
} from '../../rfc3161/support/certificates.js';
import { timeText } from '../../rfc3161/support/der.js';
import { makeCrl } from '../../rfc3161/support/revocation.js';
import { makeResponse, makeToken } from '../../rfc3161/support/tokens.js';
import type { FixtureAuthority } from '../../support/ledger-fixture.js';
import { type FixtureWorld, minute, policyEvent } from '../../support/ledger-fixture-events.js';
import type { PackageHooks } from '../../support/package-builder.js';
import { type Attack, attack, createdAt, doubt, event, notByScript, record } from './attack.js';

/** Has these batches publish policies, each with seconds to the stamp. */
function policies(...list: readonly (readonly [batch: number, stampWithinSeconds: number])[]): PackageHooks {
  return {
    world: ({ batches }: FixtureWorld) => {
      for (const [i, [batch, stampWithinSeconds]] of list.entries())
        batches[batch]?.push(
          policyEvent(i + 1, batch * 10 + 1, {
            seal_within_seconds: 300,
            stamp_within_seconds: stampWithinSeconds,
          }),
        );
    },
  };
}

/** Time stamps and claimed times. */
export function timeAttacks(authority: FixtureAuthority): Attack[] {
  const { root, tsa, newSigner } = authority;
  const forgedRoot = makeCertificate({ name: 'Forged Root', signer: newSigner(), extensions: CA_EXTENSIONS });
  const tsaExtensions = [extendedKeyUsage(true, TIME_STAMPING), keyUsage(0)];
  const forged = makeCertificate({
    name: 'Forged TSA',
    issuer: forgedRoot,
    signer: newSigner(),
    extensions: tsaExtensions,
  });
  const signer = (options: Parameters<typeof makeCertificate>[0]): PackageHooks => ({
    authority: { root, tsa: makeCertificate({ issuer: root, signer: newSigner(), ...options }) },
  });
  const token = (options: Parameters<typeof makeToken>[1], size = 2): PackageHooks => ({
    token: (at) => (at === size ? { ...options } : {}),
  });
  const withStatus = (status: number): PackageHooks => ({
    response: (response, size) =>
      size === 2 ? makeResponse(makeToken(tsa, { data: new Uint8Array() }), status) : response,
  });
  const revoked = (at: Date, reason: number): PackageHooks => ({
    crl: (thisUpdate) =>
      makeCrl(root, { thisUpdate, nextUpdate: minute(2000), revoked: [{ serial: tsa.serial, at, reason }] }),
  });
  return [
    attack('a stamp over other data', 'tst.imprint', token({ data: utf8('other data') })),
    doubt('a stamp over a SHA-1 digest', 'time.stamped', { token: () => ({ imprintHash: 'sha1' }) }),
    attack('a stamp that the authority refused', 'tst.status', withStatus(2)),
    attack('a stamp with two signers', 'tst.single-signer', token({ signers: 2 })),
    attack('a stamp without signed attributes', 'tst.signed-attributes', token({ signedAttributes: 'none' })),
    attack('a stamp with a wrong message digest', 'tst.signed-attributes', token({ wrongMessageDigest: true })),
    attack('a stamp of another content type', 'tst.content-type', token({ contentType: '1.2.840.113549.1.7.1' })),
    attack('a stamp that names another certificate', 'tst.ess', token({ essCertificate: root })),
    attack('a stamp of an unknown version', 'tst.version', token({ version: 2 })),
    attack('a stamp with bytes behind it', 'tst.format', { response: (response) => new Uint8Array([...response, 0]) }),
    attack('a stamp that is cut', 'tst.format', {
      response: (response, size) => (size === 2 ? response.slice(0, -1) : response),
    }),
    attack('an empty stamp', 'tst.format', {
      response: (response, size) => (size === 2 ? new Uint8Array() : response),
    }),
    attack(
      'an authority whose EKU is not critical',
      'tst.eku',
      signer({ name: 'x', extensions: [extendedKeyUsage(false, TIME_STAMPING), keyUsage(0)] }),
    ),
    attack(
      'an authority with a further purpose',
      'tst.eku',
      signer({ name: 'x', extensions: [extendedKeyUsage(true, TIME_STAMPING, SERVER_AUTH), keyUsage(0)] }),
    ),
    attack(
      'a CA that stamps',
      'tst.not-ca',
      signer({ name: 'x', extensions: [...tsaExtensions, basicConstraints(true)] }),
    ),
    attack(
      'an authority that had expired',
      'tst.path',
      signer({ name: 'x', notAfter: new Date('2026-01-01T00:00:00Z'), extensions: tsaExtensions }),
    ),
    attack('a root that only the package vouches for', 'tst.path', {
      authority: { root, tsa: forged },
      files: (files) => {
        files.set(PACKAGE_FILES.certificate(toHex(sha256(forgedRoot.der))), forgedRoot.der);
        files.set(PACKAGE_FILES.certificate(toHex(sha256(forged.der))), forged.der);
      },
    }),
    notByScript(
      'revocation',
      attack('an authority revoked before it stamped', 'tst.revocation', revoked(minute(1), 0)),
    ),
    notByScript(
      'revocation',
      attack('an authority whose key was compromised', 'tst.revocation', revoked(minute(100), 1)),
    ),
    notByScript('revocation', doubt('no revocation list enclosed', 'time.stamped', { crl: () => null })),
    doubt('no root given', 'time.stamped', {}, { trustAnchors: [] }),
    doubt('another root given', 'time.stamped', {}, { trustAnchors: [forgedRoot.der] }),
    attack('a stamp from the future', 'tst.time', token({ genTime: timeText(new Date('2030-01-01T00:00:00Z')) }, 5)),
    attack('stamps whose times go backwards', 'time.order', token({ genTime: timeText(minute(-60)) }, 4)),
    attack(
      'a consent from after its stamp',
      'time.claimed',
      event('c0', record({ created_at: minute(30).toISOString() })),
    ),
    {
      // It fails: the consent precedes its own text.
      ...doubt('a consent stamped days after its claimed time', 'time.claimed', createdAt('c0', -5 * 24 * 60)),
      verdict: 'invalid',
    },
    doubt('a consent stamped later than the delay allowed', 'time.claimed', {}, { maxDelay: 60_000 }),
    doubt('a consent backdated to before the stamp before its batch', 'time.claimed', createdAt('c7', 23)),
    doubt('a consent backdated among later ones of its stream', 'time.claimed', createdAt('c4', 7)),
    attack(
      'a consent from after the sealing of its batch',
      'time.claimed',
      event('c7', record({ created_at: minute(53).toISOString() })),
    ),
    doubt('a stricter policy that the service breaks', 'time.claimed', policies([0, 60])),
    doubt('a policy that it breaks from its batch on', 'time.claimed', policies([0, 3600], [3, 60])),
    attack('a policy wider than a policy may be', 'record.format', policies([0, 172_801])),
    attack('a policy that the package leaves out', 'completeness.runs', {
      ...policies([0, 3600]),
      entryLines: (lines) => lines.slice(0, -1),
      manifest: (one) => ({
        ...one,
        complete: one.complete.slice(0, -1),
        counts: { ...one.counts, entries: one.counts.entries - 1 },
      }),
    }),
    attack('a batch that counts a policy too few', 'completeness.policies', {
      ...policies([0, 3600]),
      header: (one) => (one.number === 3 ? { ...one, policies: 0 } : one),
    }),
    attack('a batch that counts a policy too many', 'completeness.policies', {
      header: (one) => (one.number === 3 ? { ...one, policies: 1 } : one),
    }),
    doubt('a policy that lowers the number of authorities in its own batch', 'time.stamped', {
      world: ({ batches }: FixtureWorld) => {
        batches[0]?.push(policyEvent(1, 1, { stamps: 2 }), policyEvent(2, 1, { stamps: 1 }));
      },
    }),
    doubt('batches that name no stamp', 'time.start', { header: (one) => ({ ...one, after: null }) }),
    doubt('a package made long after its newest stamp', 'time.fresh', {
      manifest: (one) => ({ ...one, exported_at: '2026-03-03T00:00:00.000Z' }),
    }),
    attack('a package made in the future', 'time.fresh', {
      manifest: (one) => ({ ...one, exported_at: '2027-06-01T00:00:00.000Z' }),
    }),
    doubt('a package older than the reader accepts', 'time.fresh', {}, { maxAge: 3_600_000 }),
    notByScript(
      'the dates until which algorithms are sound',
      doubt('stamps whose algorithms and certificates have ended', 'time.stamped', {}, { at: new Date('2050-01-01') }),
    ),
    attack('a batch that claims to be sealed after its stamp', 'time.claimed', {
      header: (one) => (one.number === 4 ? { ...one, sealed_at: minute(500).toISOString() } : one),
    }),
    attack('a batch that names another stamp as older', 'time.start', {
      header: (one) => (one.number === 3 ? { ...one, after: { size: 2, sha256: 'a'.repeat(64) } } : one),
    }),
    doubt('nothing stamped behind the second checkpoint', 'time.stamped', {
      files: (files) => {
        files.delete(PACKAGE_FILES.response(4, 1));
        files.delete(PACKAGE_FILES.response(5, 1));
      },
    }),
    attack('a stamp without a number', 'container.names', {
      files: (files) =>
        void files.set('checkpoints/5.tsr', files.get(PACKAGE_FILES.response(5, 1)) ?? new Uint8Array()),
    }),
    doubt('one authority where two are required', 'time.stamped', {}, { requireStamps: 2 }),
    attack('a stamp without its checkpoint', 'ledger.checkpoint', {
      files: (files) => void files.set(PACKAGE_FILES.response(3, 1), new Uint8Array(10)),
    }),
  ];
}
