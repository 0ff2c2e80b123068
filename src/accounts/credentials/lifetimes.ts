const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Lifetime of an access token, in seconds. It is short, because a verifier with only the published
 * key does not learn of a sign-out.
 */
export const ACCESS_TOKEN_SECONDS = 15 * MINUTE;

/** Longest lifetime of a sign-in, in seconds, regardless of renewals. */
export const SIGN_IN_SECONDS = 30 * DAY;

/** Lifetime of a sign-in after its last renewal, in seconds. */
export const IDLE_SECONDS = 7 * DAY;

/** Lifetime of an invitation, in seconds. */
export const INVITATION_SECONDS = 7 * DAY;

/** Lifetime of the token that completes a sign-up, in seconds. */
export const SIGN_UP_SECONDS = DAY;

/** Lifetime of a password-reset token, in seconds. */
export const PASSWORD_RESET_SECONDS = DAY;

/**
 * Seconds between the publication of a new access-token key and the first token that it signs. It
 * is twice the cache lifetime of the JWK Set (`max-age=300`).
 */
export const KEY_PUBLISHED_AHEAD_SECONDS = 10 * MINUTE;

/**
 * Seconds for which a key still verifies after its last token expires, to allow for clock skew and
 * transit.
 */
export const KEY_SLACK_SECONDS = MINUTE;

/**
 * Seconds until a compromised key is replaced: the time in which every process learns of the new
 * key.
 */
export const KEY_AT_ONCE_SECONDS = 2;

/** Seconds for which ended sign-ins and password resets are kept for investigations. */
export const KEPT_AFTER_END_SECONDS = 7 * DAY;

/**
 * Seconds for which expired invitations are kept. The period is limited because they contain e-mail
 * addresses.
 */
export const INVITATIONS_KEPT_SECONDS = 90 * DAY;
