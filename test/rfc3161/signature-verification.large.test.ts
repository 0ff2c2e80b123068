import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifySignature } from '../../schemas/crypto/signature-verification.js';
import { parseAlgorithmIdentifier, signatureSchemeOf } from '../../schemas/rfc3161/algorithms.js';
import { readSingle } from '../../schemas/rfc3161/asn1/reader.js';
import { parseSubjectPublicKey } from '../../schemas/rfc3161/x509/public-key.js';
import { titleNeeding } from '../support/missing-tools.js';
import { hasOpenssl } from '../support/openssl-tsa.js';
import { context, integer, oid, sequence } from './support/der.js';
import { hashIdentifier, pssSigner, rsaSigner } from './support/keys.js';

const DATA = new TextEncoder().encode('signed');
const keyOf = (spki: Uint8Array) => {
  const { key } = parseSubjectPublicKey(readSingle(spki));
  if (key === undefined) throw new Error('an unknown kind of key');
  return key;
};
const schemeOf = (algorithm: Uint8Array) => {
  const scheme = signatureSchemeOf(parseAlgorithmIdentifier(readSingle(algorithm), 'test'), undefined, 'test');
  if (scheme === undefined) throw new Error('an unknown scheme');
  return scheme;
};

describe('RSA-PSS', () => {
  it('holds the signature to the parameters stated with it', async () => {
    const signer = pssSigner('sha256', 'sha256', 32);
    const signature = signer.sign(DATA);
    expect(await verifySignature(schemeOf(signer.algorithm), keyOf(signer.spki), DATA, signature)).toBe('valid');
    const otherSalt = pssSigner('sha256', 'sha256', 20).algorithm;
    expect(await verifySignature(schemeOf(otherSalt), keyOf(signer.spki), DATA, signature)).toBe('invalid');
    const otherMask = pssSigner('sha256', 'sha1', 32).algorithm;
    expect(await verifySignature(schemeOf(otherMask), keyOf(signer.spki), DATA, signature)).toBe('invalid');
    const pkcs1 = schemeOf(rsaSigner('sha256').algorithm);
    expect(await verifySignature(pkcs1, keyOf(signer.spki), DATA, signature)).toBe('invalid');
  });

  it.skipIf(!hasOpenssl)(
    titleNeeding(
      'openssl',
      hasOpenssl,
      'takes a mask by another hash than the digest’s, as the defaults of RFC 4055 make it',
    ),
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'consent-ledger-pss-'));
      try {
        const signer = rsaSigner('sha256');
        writeFileSync(join(folder, 'key.pem'), signer.privateKey.export({ type: 'pkcs8', format: 'pem' }));
        writeFileSync(join(folder, 'data'), DATA);
        const pss = ['rsa_padding_mode:pss', 'rsa_mgf1_md:sha1', 'rsa_pss_saltlen:20'].flatMap((option) => [
          '-sigopt',
          option,
        ]);
        execFileSync('openssl', ['dgst', '-sha256', '-sign', 'key.pem', ...pss, '-out', 'signature', 'data'], {
          cwd: folder,
        });
        const signature = new Uint8Array(readFileSync(join(folder, 'signature')));
        const algorithm = sequence(oid('1.2.840.113549.1.1.10'), sequence(context(0, hashIdentifier('sha256'))));
        expect(await verifySignature(schemeOf(algorithm), keyOf(signer.spki), DATA, signature)).toBe('valid');
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  it('refuses parameters that are missing or of an unknown trailer', () => {
    expect(() => schemeOf(sequence(oid('1.2.840.113549.1.1.10')))).toThrow('parameters');
    const trailer = sequence(context(3, integer(2)));
    expect(() => schemeOf(sequence(oid('1.2.840.113549.1.1.10'), trailer))).toThrow('trailer');
  });
});
