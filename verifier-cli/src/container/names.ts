/** Every name that a file of a package may have (docs/evidence-format.md). */
const NAMES =
  /^(?:README\.txt|manifest\.json|manifest\.json\.jws|entries\.ndjson|batches\.ndjson|checkpoints\/(?:consistency\.ndjson|bridges\.ndjson|(?:0|[1-9]\d{0,15})\.(?:note|[1-9]\.tsr|cosignatures)|certificates\/[0-9a-f]{64}\.cer|crls\/[0-9a-f]{64}\.crl|ocsp\/[0-9a-f]{64}\.ors)|notices\/[0-9a-f]{64}|(?:proofs|tags)\/(?:0|[1-9]\d{0,15})\.ndjson|attachments\/[0-9a-f]{64})$/;

/** Names under which newer minor versions of the format add files. */
const EXTENSION = /^ext\/[a-z0-9][a-z0-9._-]{0,99}(?:\/[a-z0-9][a-z0-9._-]{0,99}){0,3}$/;

/** Whether a file is one that a newer version of the format may have added. */
export function isExtensionName(name: string): boolean {
  return EXTENSION.test(name);
}

export function isPackageFileName(name: string): boolean {
  return NAMES.test(name);
}

/**
 * What a name looks like on file systems that ignore case or normalise Unicode: two names with one
 * shadow collide there.
 */
export function shadowOf(name: string): string {
  return name.normalize('NFKC').toLowerCase().normalize('NFKC');
}
