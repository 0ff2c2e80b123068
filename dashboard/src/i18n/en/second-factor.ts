/** The second factor of a sign-in. */
export const secondFactor = {
  title: 'Second factor',
  lead: 'An app on your telephone computes a code that you enter when you sign in.',
  on: (date: string) => `A second factor is required since ${date}.`,
  off: 'You sign in with your password alone.',
  codesLeft: (count: string) => `Recovery codes left: ${count}`,
  begin: 'Add a second factor',
  beginText: 'Confirm with your password.',
  scan: 'Scan this picture with your authenticator app, or type the secret into it.',
  picture: 'QR code for the authenticator app',
  secret: 'Secret',
  code: 'Code of the app',
  confirm: 'Confirm the code',
  recovery: 'Your recovery codes',
  recoveryText:
    'Each code works once in place of the app. Keep them where you keep important papers. They are shown once.',
  renew: 'Replace the recovery codes',
  renewText: 'You get new codes, and the old ones no longer work.',
  kept: 'I have kept the codes',
  disable: 'Remove the second factor',
  disableText: 'You then sign in with your password alone.',
  codeOrRecovery: 'Code of your app, or a recovery code',
  askCode: 'Enter the code that your authenticator app shows now.',
  has: '2FA',
  reset: 'Remove the second factor',
  resetText:
    'Use this if the user lost the app and the recovery codes. The user then signs in with the password alone.',
};
