/**
 * Names of members that no page, service or store ever sees: neither options nor results of the packages, nor JSON, nor
 * of the platform. The built SDKs shorten them, which saves a page about 250 bytes.
 */
const INTERNAL = `isPermitted wasPermitted isVoid cryptography notKept obstacle renewal load iabFailed onNotKept onGivenUp
ownVisitor storedVisitor visitors newest outdated isUnavailable onMove isStillActive onAccepted onRefused giveUp answerTo
streams isOptOut isImported isOutdated consentType acceptance retryAfterMs notBefore waitMs faults recordOf isFresh
readClock addressOf isThemed facts isOptedOut jar clock network report choices sha256 hmac cached begin handle look isAskedAgain
isUnasked isAccount noticeOf flush locked drop retryAfter bodyHash ticked recorded keep post renew stated found since fail`;

/** For `mangle` of terser. @param more names that are internal in one package alone */
export const shortened = (more = '') => ({
  properties: { regex: new RegExp(`^(?:${`${INTERNAL} ${more}`.trim().split(/\s+/).join('|')})$`) },
});
