// After the sign-in, on each device: the choice of the person counts here, if it is the later one.
import { startConsent } from '@consent-ledger/browser';

/** @param options of the module, without `visitorId` */
export async function startForPerson(options) {
  const answer = await fetch('/consent/mine');
  const { visitor_id, newest } = answer.ok ? await answer.json() : {};
  const { consent } = startConsent({ ...options, visitorId: visitor_id });
  await consent.start();
  if (newest != null) await consent.follow(newest);
  return consent;
}
