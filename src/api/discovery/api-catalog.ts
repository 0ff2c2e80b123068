import type { JsonObject } from '../../../schemas/json/json-value.js';
import { PLACES, type Place, type UrlOf } from './places.js';

/** RFC 9727 §4.2: the profile of a link set that is an API catalog. */
export const API_CATALOG_PROFILE = 'https://www.rfc-editor.org/info/rfc9727';

/** An API of the service: its base URI, its purpose, and its descriptions. */
export interface Api {
  readonly base: string;
  readonly title: string;
  /** Null if the links describe the API. */
  readonly description: Place | null;
}

export const TOOL_API: Api = {
  base: '/tool/v1/',
  title: 'Tool API: records consents, returns consents in force, verifies records',
  description: PLACES.toolApi,
};
export const PANEL_API: Api = {
  base: '/api/v1/',
  title: 'Panel API: sign-in and administration',
  description: PLACES.panelApi,
};
const LEDGER: Api = {
  base: PLACES.checkpoints.path,
  title: 'The ledger: signed, time stamped checkpoints, and proofs that one extends another',
  description: null,
};
const APIS = [TOOL_API, PANEL_API, LEDGER];

const SCANNER_TITLE =
  'Public scanner: the Tool API on a second host, where configuration and documents need no API key';

/**
 * The API catalog of the service: RFC 9727 §4, as a link set (RFC 9264 §4.2).
 * @param scanner base URI of the public scanner; null: there is none
 */
export function apiCatalog(urlOf: UrlOf, scanner: string | null): JsonObject {
  const scanners = scanner === null ? [] : [scanner];
  return {
    linkset: [
      {
        anchor: urlOf(PLACES.apiCatalog.path),
        item: [
          ...APIS.map(({ base, title }) => ({ href: urlOf(base), title })),
          ...scanners.map((href) => ({ href, title: SCANNER_TITLE })),
        ],
      },
      ...APIS.map((api) => contextOf(api, urlOf)),
      ...scanners.map((anchor) => ({ ...contextOf(TOOL_API, urlOf), anchor })),
    ],
  };
}

/** The document at the base URI of an API: its links (RFC 9727 §4.1). */
export function apiLinks(api: Api, urlOf: UrlOf): JsonObject {
  return { linkset: [contextOf(api, urlOf)] };
}

/** The relations are those of RFC 8631. */
function contextOf({ base, description }: Api, urlOf: UrlOf): JsonObject {
  const link = ({ path, mediaType }: Place): JsonObject => ({ href: urlOf(path), type: mediaType });
  return {
    anchor: urlOf(base),
    ...(description !== null && { 'service-desc': [link(description)] }),
    'service-doc': [link(PLACES.llmsText)],
    'service-meta': [link(PLACES.agentSkills)],
  };
}
