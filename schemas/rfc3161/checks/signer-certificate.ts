import { equalBytes } from '../../crypto/encoding.js';
import { hashBytes } from '../../crypto/signature-verification.js';
import type { SignerInfo } from '../cms/signer-info.js';
import { attempt, MalformedInput } from '../errors.js';
import { OID } from '../oids.js';
import { check, type TimestampCheck } from '../report.js';
import type { Certificate } from '../x509/certificate.js';
import { KEY_USAGE } from '../x509/extensions.js';
import { parseGeneralNames } from '../x509/general-names.js';
import { sameName } from '../x509/names.js';
import type { EssCertificateId } from './signed-attributes.js';

/**
 * Finds the certificate that a signer names, by the named values and never by position (RFC 5652
 * §5.3). If an injected certificate copies issuer and serial number, the hash in the signed
 * attributes decides.
 */
export function findSignerCertificate(
  { sid }: SignerInfo,
  ess: readonly EssCertificateId[],
  candidates: readonly Certificate[],
): Certificate | undefined {
  const matching = candidates.filter((certificate) => {
    if (sid.kind === 'issuer-and-serial') {
      return equalBytes(sid.serial, certificate.serial) && sameName(sid.issuer, certificate.issuer);
    }
    const identifier = certificate.known.subjectKeyIdentifier;
    return identifier !== undefined && equalBytes(sid.keyIdentifier, identifier);
  });
  return (
    matching.find((certificate) => ess.length > 0 && ess.every((id) => essHashFits(id, certificate))) ?? matching[0]
  );
}

function essHashFits({ hash, certificateHash }: EssCertificateId, certificate: Certificate): boolean {
  return hash !== undefined && equalBytes(certificateHash, hashBytes(hash, certificate.der));
}

/** RFC 5816 §2.2.1: the signed attributes name the signer's certificate by its hash, which is unique. */
export function checkEss(ess: readonly EssCertificateId[], certificate: Certificate): TimestampCheck {
  if (ess.length === 0)
    return check('tst.ess', 'fail', 'the signed attributes do not identify the signer’s certificate');
  for (const id of ess) {
    if (id.hash === undefined || id.hash === 'md5') {
      return check(
        'tst.ess',
        'indeterminate',
        'the hash that identifies the signer’s certificate is unknown or broken',
      );
    }
    if (!essHashFits(id, certificate)) {
      return check('tst.ess', 'fail', 'the signed attributes identify another certificate than the signer’s');
    }
    if (id.issuerSerial !== undefined && !issuerSerialFits(id.issuerSerial, certificate)) {
      return check('tst.ess', 'fail', 'the signed attributes name another issuer or serial number than the signer’s');
    }
  }
  return check('tst.ess', 'pass', 'the signed attributes identify the signer’s certificate by its hash');
}

function issuerSerialFits(
  { issuer, serial }: NonNullable<EssCertificateId['issuerSerial']>,
  certificate: Certificate,
): boolean {
  const names = attempt(() => parseGeneralNames(issuer));
  if (names instanceof MalformedInput) return false;
  const named = names.some((name) => name.kind === 'directory' && sameName(name.name, certificate.issuer));
  return named && equalBytes(serial, certificate.serial);
}

/** RFC 3161 §2.3: extended key usage critical, and timeStamping alone. */
export function checkEku({ known, extensions }: Certificate): TimestampCheck {
  const purposes = known.extendedKeyUsage;
  if (purposes === undefined) return check('tst.eku', 'fail', 'the signer’s certificate has no extended key usage');
  if (!purposes.includes(OID.ekuTimeStamping))
    return check('tst.eku', 'fail', 'the extended key usage does not include time stamping');
  if (purposes.length > 1) return check('tst.eku', 'fail', 'the extended key usage includes other purposes');
  if (extensions.get(OID.extendedKeyUsage)?.critical !== true) {
    return check('tst.eku', 'fail', 'the extended key usage is not critical');
  }
  return check('tst.eku', 'pass', 'the certificate is restricted to time stamping');
}

/** The key may be used for signatures and for nothing else. */
export function checkKeyUsage({ known }: Certificate): TimestampCheck {
  const usage = known.keyUsage;
  if (usage === undefined) return check('tst.key-usage', 'not-applicable', 'the certificate does not restrict its key');
  const signing: readonly number[] = [KEY_USAGE.digitalSignature, KEY_USAGE.nonRepudiation];
  if (!signing.some((bit) => usage.has(bit)))
    return check('tst.key-usage', 'fail', 'the key usage does not allow signatures');
  return [...usage].every((bit) => signing.includes(bit))
    ? check('tst.key-usage', 'pass', 'the key usage allows signatures only')
    : check('tst.key-usage', 'fail', 'the key usage allows more than signatures');
}

/** A CA could issue a certificate for any token, so its own certificate must not sign tokens. */
export function checkNotCa({ known, version }: Certificate): TimestampCheck {
  if (version < 3) return check('tst.not-ca', 'fail', 'the signer’s certificate is older than version 3');
  return known.basicConstraints?.ca === true
    ? check('tst.not-ca', 'fail', 'the signer’s certificate is a CA certificate')
    : check('tst.not-ca', 'pass', 'the signer’s certificate is not a CA certificate');
}
