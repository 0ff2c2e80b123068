import { toHex } from '../../../schemas/crypto/encoding.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import { parseCrl } from '../../../schemas/rfc3161/revocation/crl.js';
import { parseOcspResponse } from '../../../schemas/rfc3161/revocation/ocsp.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';

/** A CRL or OCSP answer with the time from which it speaks. */
interface DatedAnswer {
  readonly der: Uint8Array;
  /** About whom they speak: only answers about the same supersede each other. */
  readonly issuer: string;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** What was gathered when the stamps were obtained. Nothing in it is trusted; every signature in it is checked. */
export interface PkiFiles {
  readonly certificates: readonly Uint8Array[];
  readonly crls: readonly DatedAnswer[];
  readonly ocsp: readonly DatedAnswer[];
}

/** Reads the certificates, CRLs and OCSP answers that the package encloses. */
export async function readPkiFiles(files: PackageFiles): Promise<PkiFiles> {
  const read = async (folder: string, maxBytes: number) => {
    const names = [...files.archive.keys()].filter((name) => name.startsWith(`checkpoints/${folder}/`));
    if (names.length > LIMITS.pkiFiles)
      files.findings.fail('container.limits', `the package encloses more than ${LIMITS.pkiFiles} ${folder}`);
    const contents: Uint8Array[] = [];
    for (const name of names.slice(0, LIMITS.pkiFiles)) {
      const bytes = await files.bytes(name, maxBytes);
      if (bytes !== null) contents.push(bytes);
    }
    return contents;
  };
  return {
    certificates: await read('certificates', LIMITS.smallFileBytes),
    crls: (await read('crls', LIMITS.crlBytes)).flatMap(datedCrl),
    ocsp: (await read('ocsp', LIMITS.smallFileBytes)).flatMap(datedOcsp),
  };
}

function datedCrl(der: Uint8Array): DatedAnswer[] {
  const crl = attempt(() => parseCrl(der));
  return crl instanceof MalformedInput ? [] : [{ der, issuer: crl.issuer.text, time: crl.thisUpdate.getTime() }];
}

function datedOcsp(der: Uint8Array): DatedAnswer[] {
  const response = attempt(() => parseOcspResponse(der));
  if (response instanceof MalformedInput) return [];
  const [answer] = response.answers;
  const subject = answer === undefined ? '' : `${toHex(answer.issuerKeyHash)} ${toHex(answer.serial)}`;
  return [{ der, issuer: subject, time: response.producedAt.getTime() }];
}

/**
 * The answers that can say most about one moment: for each issuer the nearest on either side of it, and the newest of all. A package with
 * thousands of stamps may enclose thousands of CRLs; looking at all of them for every stamp would be quadratic.
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
