/** PEM of some DER. */
export function pem(label: string, der: Uint8Array): string {
  const lines = Buffer.from(der).toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
