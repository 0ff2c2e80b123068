/** Creating an organisation, where the operator lets everyone do it. */
export const signUp = {
  title: 'Create an account',
  question: 'Do you have no account yet?',
  organisation: 'Name of your organisation',
  ask: 'Continue',
  closed:
    'This installation takes users by invitation only. Ask the owner of your organisation, or the operator of the service.',
  sent: (email: string) =>
    `A mail to ${email} is on its way. Follow the link in it within 24 hours. If it does not come, look in the spam folder, or try again in a few minutes.`,
  proving: 'Many accounts are being created. Your browser does a calculation that takes some seconds.',
  confirmTitle: 'Choose your password',
  confirm: 'Create the account',
  token: 'Sign-up code',
  openLink: 'Open the link in the mail that we sent you. It leads here, and carries the code.',
  enterCode: 'I have a code but no link',
};
