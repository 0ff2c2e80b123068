import { RequestRefused } from '../../platform/errors.js';

/** A used-up quota lasts long, so a client that follows Retry-After must not retry every second. */
export const QUOTA_RETRY_SECONDS = 3600;

/** Refuses a consent of a tenant that has no active plan. */
export function noSubscription(): RequestRefused {
  return new RequestRefused('NO_CONSENT_SUBSCRIPTION', undefined, { retryAfterSeconds: QUOTA_RETRY_SECONDS });
}
