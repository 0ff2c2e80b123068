import { X509Certificate } from 'node:crypto';

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Parses the certificates of a PEM file (RFC 7468), in order. Other text is ignored.
 * @returns DER
 * @throws Error if a block is not a certificate
 */
export function certificatesOfPem(text: string): Uint8Array[] {
  return [...text.matchAll(BLOCK)].map(([block]) => new Uint8Array(new X509Certificate(block).raw));
}

/** Writes certificates as a PEM file (RFC 7468). @param certificates DER */
export function pemOfCertificates(certificates: readonly Uint8Array[]): string {
  return certificates.map((der) => new X509Certificate(der).toString()).join('');
}
