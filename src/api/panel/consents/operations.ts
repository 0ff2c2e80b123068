import { NoBody, None, SiteParams } from '../../../../schemas/api/panel/common.js';
import {
  ConsentParams,
  ConsentResponse,
  ConsentsPage,
  DiscloseConsentRequest,
  DiscloseConsentResponse,
  ListConsentsQuery,
  SearchConsentsRequest,
  VerifyConsentResponse,
} from '../../../../schemas/api/panel/consents.js';
import { operation, PROTECTORS, READERS } from '../operation.js';

const tag = 'Consents';
const PAGES =
  'A page can be short or empty although more records follow, because one request examines a limited number of records. Continue until `next_cursor` is null.';

export const listConsents = operation({
  id: 'listConsents',
  method: 'get',
  path: '/sites/{site_id}/consents',
  tag,
  summary: 'List the consent records of a site, newest first, with their public parts',
  description: PAGES,
  roles: READERS,
  params: SiteParams,
  query: ListConsentsQuery,
  body: NoBody,
  status: 200,
  response: ConsentsPage,
  errors: [],
  action: null,
});

export const searchConsents = operation({
  id: 'searchConsents',
  method: 'post',
  path: '/sites/{site_id}/consents/search',
  tag,
  summary: 'Search the consent records of one person, newest first, with their public parts',
  description: `The person is identified in the body, because URLs are logged. Erased records are not found. The audit log has an entry for the search, without the person. ${PAGES}`,
  roles: PROTECTORS,
  params: SiteParams,
  query: None,
  body: SearchConsentsRequest,
  example: { person: { by: 'visitor_id', value: 'visitor-1' }, consent_type: 'cookie', limit: 10 },
  status: 200,
  response: ConsentsPage,
  errors: [],
  action: 'consent.search',
});

export const readConsent = operation({
  id: 'readConsent',
  method: 'get',
  path: '/sites/{site_id}/consents/{consent_id}',
  tag,
  summary: 'Get a record by its id or consent token, and how it is sealed and stamped',
  roles: READERS,
  params: ConsentParams,
  query: None,
  body: NoBody,
  status: 200,
  response: ConsentResponse,
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const verifyConsent = operation({
  id: 'verifyConsentInPanel',
  method: 'get',
  path: '/sites/{site_id}/consents/{consent_id}/verify',
  tag,
  summary: 'Check the integrity of one record',
  description:
    'Checks the proof hash, the position in batch and ledger, the erasure, and every copy of the members. consent-verify also checks the signature of the time stamp token.',
  roles: READERS,
  params: ConsentParams,
  query: None,
  body: NoBody,
  status: 200,
  response: VerifyConsentResponse,
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const discloseConsent = operation({
  id: 'discloseConsent',
  method: 'post',
  path: '/sites/{site_id}/consents/{consent_id}/disclose',
  tag,
  summary: 'Disclose personal values of one record',
  description: 'The audit log records the user, the record and the names of the fields, before the values are sent.',
  roles: PROTECTORS,
  params: ConsentParams,
  query: None,
  body: DiscloseConsentRequest,
  example: { fields: ['visitor_id', 'signer_email'] },
  status: 200,
  response: DiscloseConsentResponse,
  errors: ['RESOURCE_NOT_FOUND'],
  action: 'consent.disclose',
});

export const CONSENT_OPERATIONS = [listConsents, searchConsents, readConsent, verifyConsent, discloseConsent];
