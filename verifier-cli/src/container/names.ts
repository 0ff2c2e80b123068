import { type Finding, finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';
import { unknownVersion } from '../findings/unknown-version.js';

/**
 * Every name that a file of a package may have (docs/evidence-format.md). All are ASCII. All are in lower case except
 * one, which differs from the others by more than its case. So no two are the same on a file system that ignores case
 * or normalises Unicode, and no name has to be normalised, which is slow for long names.
 */
const NAMES =
  /^(?:README\.txt|manifest\.json|manifest\.json\.jws|entries\.ndjson|batches\.ndjson|checkpoints\/(?:consistency\.ndjson|(?:0|[1-9]\d{0,15})\.(?:note|[1-9]\.tsr|cosignatures)|certificates\/[0-9a-f]{64}\.cer|crls\/[0-9a-f]{64}\.crl|ocsp\/[0-9a-f]{64}\.ors)|notices\/[0-9a-f]{64}|(?:proofs|tags)\/(?:0|[1-9]\d{0,15})\.ndjson|attachments\/[0-9a-f]{64})$/;

/** Names under which newer minor versions of the format add files. */
const EXTENSION = /^ext\/[a-z0-9][a-z0-9._-]{0,99}(?:\/[a-z0-9][a-z0-9._-]{0,99}){0,3}$/;

/**
 * Checks the name of a file against those of the format. A name that a newer version may have added is left undecided.
 * @param container kind of the container that has the file, as readable text
 * @returns whether the file is read
 */
export function acceptName(name: string, container: Finding, findings: Findings): boolean {
  const at = { file: name };
  if (EXTENSION.test(name)) {
    findings.open('container.names', unknownVersion(finding('file-version')), at);
    return true;
  }
  const isKnown = NAMES.test(name);
  if (isKnown) findings.pass('container.names');
  else findings.fail('container.names', finding('name-refused', { container }), at);
  return isKnown;
}
