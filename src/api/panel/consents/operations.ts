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
  'A page may be short, or empty, though more follow: it ends where much was looked through in vain. Go on until next_cursor is null.';

export const listConsents = operation({
  id: 'listConsents',
  method: 'get',
  path: '/sites/{site_id}/consents',
  tag,
  summary: 'Consent records of a site, the newest first; their public parts',
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
  summary: 'Consent records of one person, the newest first; their public parts',
  description: `The person stands in the body, because addresses of requests stand in logs. Erased records are nobody’s any more, and never found. The search is in the audit log, without the person. ${PAGES}`,
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
  summary: 'One record by its id or consent token: its public part, and how it is sealed and stamped',
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
  summary: 'Integrity check of one record',
  description:
    'Proof hash, place in the batch and in the ledger, its erasure, and every copy of its members. The signature of the time-stamp token is left to consent-verify.',
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
  summary: 'Personal values of one record, decrypted',
  description: 'The audit log says who saw which fields of which record.',
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
