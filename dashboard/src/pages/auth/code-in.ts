/** The member of a request for what a user entered: a code of the app has six digits. */
export function codeIn(text: string): { totp_code: string } | { recovery_code: string } {
  const code = text.replaceAll(/\s/g, '');
  return /^\d{6}$/.test(code) ? { totp_code: code } : { recovery_code: code };
}
