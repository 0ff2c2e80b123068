const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Seconds for which an access token holds: short, as whoever verifies it elsewhere, by its published key, does not hear of a sign-out. */
export const ACCESS_TOKEN_SECONDS = 15 * MINUTE;

/** Seconds after which a sign-in ends, however often it is renewed. */
export const SIGN_IN_SECONDS = 30 * DAY;

/** Seconds after its last renewal at which a sign-in ends. */
export const IDLE_SECONDS = 7 * DAY;

/** Seconds for which an invitation can be accepted. */
export const INVITATION_SECONDS = 7 * DAY;

/** Seconds for which a password can be reset with one token. */
export const PASSWORD_RESET_SECONDS = DAY;

/**
 * Seconds between the publication of a new key of access tokens and the first token by it: twice as long as caches may keep the JWK Set
 * (`max-age=300`).
 */
export const KEY_PUBLISHED_AHEAD_SECONDS = 10 * MINUTE;

/** Seconds that a key verifies beyond the last token by it, for clocks that differ and tokens that were under way. */
export const KEY_SLACK_SECONDS = MINUTE;

/** Seconds until a key that must not be trusted any more is replaced: as long as it takes every process to see the new one. */
export const KEY_AT_ONCE_SECONDS = 2;

/** Seconds for which ended sign-ins and password resets are kept, for whoever looks into them. */
export const KEPT_AFTER_END_SECONDS = 7 * DAY;

/** Seconds for which invitations are kept after their term: they hold e-mail addresses. */
export const INVITATIONS_KEPT_SECONDS = 90 * DAY;
