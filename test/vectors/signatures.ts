/**
 * Signatures of Ed25519, Ed448, ECDSA, RSA and ML-DSA-44. The folder holds files of these repositories:
 *
 * - `<name>_test.json` of github.com/C2SP/wycheproof, testvectors_v1 (commit dac1dd47): the names in `FILES`;
 * - `ed25519vectors.json` of github.com/C2SP/CCTV, ed25519 (commit 1e3d2860).
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { SignatureScheme } from '../../schemas/crypto/algorithms.js';
import { verifyEd25519 } from '../../schemas/crypto/ed25519.js';
import { fromHex } from '../../schemas/crypto/encoding.js';
import { verifyMlDsa44 } from '../../schemas/crypto/ml-dsa.js';
import { verifySignature } from '../../schemas/crypto/signature-verification.js';
import { readSingle } from '../../schemas/rfc3161/asn1/reader.js';
import { attempt, MalformedInput } from '../../schemas/rfc3161/errors.js';
import { parseSubjectPublicKey } from '../../schemas/rfc3161/x509/public-key.js';

interface Verdict {
  readonly title: string;
  readonly right: number;
  readonly wronglyAccepted: readonly string[];
  readonly notAccepted: readonly string[];
  readonly notApplicable: readonly string[];
}

/** The files of Wycheproof, and the scheme of each; null: ML-DSA-44. */
const FILES: Readonly<Record<string, SignatureScheme | null>> = {
  ed25519: { kind: 'ed25519' },
  ed448: { kind: 'ed448' },
  ecdsa_secp256r1_sha256: { kind: 'ecdsa', hash: 'sha256' },
  ecdsa_secp384r1_sha384: { kind: 'ecdsa', hash: 'sha384' },
  rsa_signature_2048_sha256: { kind: 'rsa-pkcs1', hash: 'sha256' },
  mldsa_44_verify: null,
};

/** Judges each signature of the folder. */
export async function run(folder: string): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const [name, scheme] of Object.entries(FILES)) {
    const file = join(folder, `${name}_test.json`);
    if (existsSync(file)) verdicts.push(await judged(`Wycheproof ${name}`, wycheproofCases(file, scheme)));
  }
  const cctv = join(folder, 'ed25519vectors.json');
  if (existsSync(cctv)) verdicts.push(await judged('CCTV Ed25519', cctvCases(cctv)));
  return verdicts;
}

interface Case {
  readonly id: string;
  readonly isRight: boolean;
  readonly accepts: () => Promise<boolean>;
  /** Why the format says something else (docs/evidence-format.md); undefined if it does not. */
  readonly notApplicable?: string | undefined;
}

async function judged(title: string, cases: readonly Case[]): Promise<Verdict> {
  const verdict = { title, right: 0, wronglyAccepted: [''], notAccepted: [''], notApplicable: [''] };
  for (const list of [verdict.wronglyAccepted, verdict.notAccepted, verdict.notApplicable]) list.length = 0;
  for (const { id, isRight, accepts, notApplicable } of cases) {
    const isAccepted = await accepts();
    if (notApplicable !== undefined) verdict.notApplicable.push(`${id}: ${notApplicable}`);
    else if (isAccepted === isRight) verdict.right += 1;
    else (isAccepted ? verdict.wronglyAccepted : verdict.notAccepted).push(id);
  }
  return verdict;
}

const Wycheproof = z.object({
  testGroups: z.array(
    z.object({
      publicKeyDer: z.string().nullish(),
      publicKey: z.unknown(),
      tests: z.array(
        z.object({
          tcId: z.number(),
          comment: z.string(),
          msg: z.string(),
          ctx: z.string().optional(),
          sig: z.string(),
          result: z.enum(['valid', 'invalid', 'acceptable']),
          flags: z.array(z.string()),
        }),
      ),
    }),
  ),
});

/** What these vectors leave to the verifier. */
const EITHER: ReadonlyMap<string, string> = new Map([
  ['MissingNull', '§9 accepts what the library accepts: the parameters of the hash may be missing'],
]);
const WITH_CONTEXT = '§7: the context of FIPS 204 is empty';

function wycheproofCases(file: string, scheme: SignatureScheme | null): Case[] {
  const { testGroups } = Wycheproof.parse(JSON.parse(readFileSync(file, 'utf8')));
  return testGroups.flatMap(({ publicKeyDer, publicKey, tests }) =>
    tests.map(({ tcId, comment, msg, ctx, sig, result, flags }): Case => {
      const [message, signature] = [bytes(msg), bytes(sig)];
      return {
        id: `${tcId} ${comment}`,
        isRight: result !== 'invalid',
        accepts: async () =>
          scheme === null
            ? verifyMlDsa44(bytes(String(publicKey)), message, signature)
            : isSigned(bytes(publicKeyDer ?? ''), scheme, message, signature),
        notApplicable:
          ctx !== undefined && ctx !== ''
            ? WITH_CONTEXT
            : result === 'acceptable'
              ? (flags.map((flag) => EITHER.get(flag)).find((why) => why !== undefined) ?? 'either is right')
              : undefined,
      };
    }),
  );
}

async function isSigned(spki: Uint8Array, scheme: SignatureScheme, data: Uint8Array, signature: Uint8Array) {
  const parsed = attempt(() => parseSubjectPublicKey(readSingle(spki)));
  if (parsed instanceof MalformedInput || parsed.key === undefined) return false;
  return (await verifySignature(scheme, parsed.key, data, signature)) === 'valid';
}

const Cctv = z.array(
  z.object({
    number: z.number(),
    key: z.string(),
    sig: z.string(),
    msg: z.string(),
    flags: z.array(z.string()).nullable(),
  }),
);

/**
 * Every signature of CCTV holds by the equation with cofactor. The format takes the one without (§7: RFC 8032 as
 * OpenSSL has it), refuses points of small order, and so what leaves a residue of small order; and R is compared
 * as bytes, so that only its canonical form is right, and the challenge has the bytes as they stand.
 */
const REFUSED = new Set(['low_order_A', 'low_order_R', 'low_order_residue', 'non_canonical_R', 'reencoded_k']);

function cctvCases(file: string): Case[] {
  return Cctv.parse(JSON.parse(readFileSync(file, 'utf8'))).map(({ number, key, sig, msg, flags }) => ({
    id: `${number} ${flags?.join() ?? 'no flags'}`,
    isRight: !(flags ?? []).some((flag) => REFUSED.has(flag)),
    accepts: () => verifyEd25519(bytes(key), new TextEncoder().encode(msg), bytes(sig)),
  }));
}

function bytes(hex: string): Uint8Array {
  return fromHex(hex) ?? new Uint8Array();
}
