/** Every name that a file of a package may have (docs/evidence-format.md). */
const NAMES =
  /^(?:README\.txt|manifest\.json|manifest\.json\.jws|entries\.ndjson|batches\.ndjson|checkpoints\/(?:consistency\.ndjson|bridges\.ndjson|(?:0|[1-9]\d{0,15})\.(?:note|[1-9]\.tsr|cosignatures)|certificates\/[0-9a-f]{64}\.cer|crls\/[0-9a-f]{64}\.crl|ocsp\/[0-9a-f]{64}\.ors)|notices\/[0-9a-f]{64}|(?:proofs|tags)\/(?:0|[1-9]\d{0,15})\.ndjson|attachments\/[0-9a-f]{64})$/;

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
