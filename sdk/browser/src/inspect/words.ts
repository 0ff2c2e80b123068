import { isText, isUnchecked, nullable, objectOf, optional, parseJson } from '../../../core/guards.js';

const isSent = objectOf<{ consent_type: string; decision: string; categories?: unknown; services?: unknown }>({
  consent_type: isText,
  decision: isText,
  categories: isUnchecked,
  services: isUnchecked,
});
const isRefusal = objectOf<{ code: string; message: string }>({ code: isText, message: isText });
const isRecorded = objectOf<{ data: { consent_token: string } }>({
  data: objectOf<{ consent_token: string }>({ consent_token: isText }),
});
const isConfigured = objectOf<{ data: { site_config_hash?: string | null | undefined } }>({
  data: objectOf<{ site_config_hash?: string | null | undefined }>({ site_config_hash: optional(nullable(isText)) }),
});

/** The first characters of an identifier, so that a picture of the panel gives none away. */
export const shortened = (text: string, most = 12): string => (text.length <= most ? text : `${text.slice(0, most)}…`);

/** What a consent states, in words. @param body the text that is sent */
export function wordsOf(body: string): string {
  const sent = parseJson(body, isSent);
  if (sent === undefined) return 'a text that is no consent';
  const { consent_type, decision, categories, services } = sent;
  const answers = [categories, services].filter((one) => one != null).map((one) => JSON.stringify(one));
  return [consent_type, decision, ...answers].join(' ');
}

/** The answer in words, without what identifies the visitor. @param status HTTP status; 0 without an answer */
export function answerOf(status: number, body: string): string {
  const refusal = parseJson(body, isRefusal);
  if (refusal !== undefined) return `${status} ${refusal.code}: ${refusal.message}`;
  const recorded = parseJson(body, isRecorded);
  if (recorded !== undefined) return `${status}, recorded as ${shortened(recorded.data.consent_token)}`;
  const hash = parseJson(body, isConfigured)?.data.site_config_hash;
  return hash == null ? String(status) : `${status}, configuration ${shortened(hash)}`;
}

/**
 * Where a configuration came from.
 * @param readAt when this device read it, in Unix milliseconds; null if storage does not say
 * @param openedAt when the page was opened
 */
export function sourceOf(readAt: number | null, openedAt: number, now: number): string {
  if (readAt === null) return 'the storage of the browser does not say when it was read';
  const seconds = Math.max(0, Math.round((now - readAt) / 1000));
  return readAt >= openedAt
    ? `read from the service ${seconds} s ago, by this page`
    : `from the storage of this browser, read ${seconds} s ago by an earlier page`;
}
