/**
 * Errors by code. The service explains its refusals in English; here are those that a user of the
 * dashboard reads in other words.
 */
export const errors: Readonly<Record<string, string>> = {
  NO_ANSWER: 'The service did not answer. Check your connection and try again.',
  VALIDATION_ERROR: 'Correct the marked fields.',
  INSUFFICIENT_ROLE: 'Your role does not permit this. Ask an owner of your organisation.',
  INVALID_BEARER_TOKEN:
    'Your sign-in has ended. Sign in again in another tab, and then repeat this here: what you typed is still in this page.',
};
