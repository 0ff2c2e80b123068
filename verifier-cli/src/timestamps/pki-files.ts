import { toHex } from '../../../schemas/crypto/encoding.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import { parseCrl } from '../../../schemas/rfc3161/revocation/crl.js';
import { parseOcspResponse } from '../../../schemas/rfc3161/revocation/ocsp.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';
import { finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';

/** A CRL or OCSP response with the time as of which it was made. */
interface DatedAnswer {
  readonly der: Uint8Array;
  /** The certificates that the responses are about. Only responses about the same certificates supersede each other. */
  readonly issuer: string;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/**
 * Certificates and revocation data that were collected when the stamps were obtained. Nothing in them is trusted; every
 * signature is verified.
 */
export interface PkiFiles {
  readonly certificates: readonly Uint8Array[];
  readonly crls: readonly DatedAnswer[];
  readonly ocsp: readonly DatedAnswer[];
}

/** Reads the certificates, CRLs and OCSP answers that the package encloses. */
export async function readPkiFiles(files: PackageFiles): Promise<PkiFiles> {
  const read = async (folder: string, maxFiles: number, maxBytes: number) => {
    const names = [...files.archive.keys()].filter((name) => name.startsWith(`checkpoints/${folder}/`));
    if (names.length > maxFiles)
      files.findings.fail('container.limits', finding('too-many-pki-files', { limit: maxFiles, folder }));
    const contents: PkiFile[] = [];
    let total = 0;
    for (const name of names.slice(0, maxFiles)) {
      const bytes = await files.bytes(name, maxBytes);
      total += bytes?.length ?? 0;
      if (total > LIMITS.pkiBytes) {
        files.findings.fail('container.limits', finding('pki-files-too-large', { folder, limit: LIMITS.pkiBytes }));
        break;
      }
      if (bytes !== null) contents.push({ name, bytes });
    }
    return contents;
  };
  return {
    certificates: (await read('certificates', LIMITS.certificates, LIMITS.certificateBytes)).map(({ bytes }) => bytes),
    crls: datedAnswers(await read('crls', LIMITS.answers, LIMITS.crlBytes), datedCrl, files.findings),
    ocsp: datedAnswers(await read('ocsp', LIMITS.answers, LIMITS.ocspBytes), datedOcsp, files.findings),
  };
}

interface PkiFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * Parses the answers. The report names each that cannot be read. An unreadable CRL is kept in a separate group, because
 * it may still show that something was said about a certificate.
 */
function datedAnswers(
  contents: readonly PkiFile[],
  dated: (der: Uint8Array) => DatedAnswer,
  findings: Findings,
): DatedAnswer[] {
  return contents.flatMap(({ name, bytes }) => {
    const answer = attempt(() => dated(bytes));
    if (!(answer instanceof MalformedInput)) return [answer];
    findings.warn(finding('pki-file-ignored', { reason: answer.message }), { file: name });
    return dated === datedCrl ? [{ der: bytes, issuer: name, time: 0 }] : [];
  });
}

function datedCrl(der: Uint8Array): DatedAnswer {
  const crl = parseCrl(der);
  return { der, issuer: crl.issuer.text, time: crl.thisUpdate.getTime() };
}

function datedOcsp(der: Uint8Array): DatedAnswer {
  const response = parseOcspResponse(der);
  const [answer] = response.answers;
  const subject = answer === undefined ? '' : `${toHex(answer.issuerKeyHash)} ${toHex(answer.serial)}`;
  return { der, issuer: subject, time: response.producedAt.getTime() };
}

/**
 * Selects the most informative answers about one moment: for each issuer, the nearest on either side of it, and the
 * newest. A package with thousands of stamps may have thousands of CRLs, and evaluating all of them for every stamp
 * would be quadratic.
 */
export function answersNear(answers: readonly DatedAnswer[], time: number): readonly Uint8Array[] {
  const byIssuer = new Map<string, DatedAnswer[]>();
  for (const answer of answers) {
    const group = byIssuer.get(answer.issuer);
    if (group === undefined) byIssuer.set(answer.issuer, [answer]);
    else group.push(answer);
  }
  const chosen = new Set<DatedAnswer>();
  for (const group of byIssuer.values()) {
    const sorted = group.toSorted((a, b) => a.time - b.time);
    const after = sorted.findIndex((answer) => answer.time >= time);
    const middle = after < 0 ? sorted.length : after;
    for (const answer of sorted.slice(Math.max(0, middle - 2), middle + 2)) chosen.add(answer);
    for (const answer of sorted.slice(-1)) chosen.add(answer);
  }
  return [...chosen].map(({ der }) => der);
}
