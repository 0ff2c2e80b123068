// Routes of a shop's backend: the consent of the person who is signed in, for each of the person's devices.
import { createServer } from 'node:http';

/**
 * @param ledger a `ConsentLedger` of @consent-ledger/node
 * @param referenceOf the person's reference for consents, from the session of a request; undefined without
 *   a sign-in. It is random, kept with the account, and never taken from the request
 */
export function consentBackend(ledger, referenceOf) {
  return createServer(async (request, response) => {
    const visitor_id = referenceOf(request);
    const answer = (status, body) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
        .end(JSON.stringify(body));
    try {
      if (visitor_id === undefined) answer(401, null);
      else if (request.url === '/consent/mine') {
        const [newest = null] = await ledger.status({ visitor_id, consent_type: 'cookie' });
        answer(200, { visitor_id, newest });
      } else if (request.url === '/consent/form') {
        const [signed] = await ledger.status({ visitor_id, document_slug: 'explicit-consent' });
        // A token names the person, so that the record is one of the person, on any device.
        const minted =
          signed ?? (await ledger.mintApprovalToken({ document_slug: 'explicit-consent', subject: visitor_id }));
        answer(200, { is_signed: signed !== undefined, approval_token: minted.approval_token ?? null });
      } else answer(404, null);
    } catch (error) {
      answer(502, { code: error.code });
    }
  });
}
