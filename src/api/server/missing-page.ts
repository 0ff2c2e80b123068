import type { FastifyReply, FastifyRequest } from 'fastify';
import { PAGE_POLICY, pageOf } from './page.js';

/** The APIs, whose clients expect JSON whatever they say that they accept. */
const API = /^\/(?:api|tool)(?:\/|$)/i;

/** Whether a person follows a link in a browser: it names HTML, which no client of the APIs does. */
export function wantsPage({ method, url, headers }: Pick<FastifyRequest, 'method' | 'url' | 'headers'>): boolean {
  return (method === 'GET' || method === 'HEAD') && !API.test(url) && acceptsHtml(headers.accept);
}

/** @param accept the header `Accept` (RFC 9110 §12.5.1); a range such as any type at all does not name HTML */
function acceptsHtml(accept = ''): boolean {
  return accept
    .toLowerCase()
    .split(',')
    .map((range) => range.split(';').map((part) => part.trim()))
    .some(([type, ...parameters]) => type === 'text/html' && !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one)));
}

const MISSING = pageOf({
  title: 'Page not found – Consent Ledger',
  main: `<h1>Page not found</h1>
<p class="lead">This address leads to no page. Check it for a typing error, or begin at the home page.</p>
<p><a class="button button-primary" href="/">Go to the home page</a></p>`,
});

/** Says to a person that an address leads nowhere. */
export function sendMissingPage(reply: FastifyReply): FastifyReply {
  reply.errorCode = 'ROUTE_NOT_FOUND';
  return sendPage(reply.code(404), MISSING);
}

/** Sends a page that depends on what the client accepts, so that no cache keeps it. */
export function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': PAGE_POLICY,
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
      vary: 'Accept',
    })
    .send(html);
}
