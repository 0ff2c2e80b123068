import { CreateErasureRequest, ErasureReceiptResponse } from '../../../../schemas/api/erasures.js';
import { NoBody, None, PageQuery, SiteParams } from '../../../../schemas/api/panel/common.js';
import {
  AnnouncementsPage,
  ErasureParams,
  ErasuresPage,
  ListErasuresQuery,
} from '../../../../schemas/api/panel/erasures.js';
import { operation, PROTECTORS } from '../operation.js';

const tag = 'Erasures';

export const createErasure = operation({
  id: 'createErasure',
  method: 'post',
  path: '/sites/{site_id}/erasures',
  tag,
  summary: 'Erase the personal data of a person or of one record, permanently',
  description:
    'The service carries the erasure out within moments: read the receipt until its `state` is `finished`. An unknown person or record is no error; its receipt counts 0 records. The same `idempotency_key` with the same subject is the same erasure.',
  roles: PROTECTORS,
  params: SiteParams,
  query: None,
  body: CreateErasureRequest,
  example: { subject: { by: 'visitor_id', value: 'visitor-1' } },
  status: 202,
  response: ErasureReceiptResponse,
  errors: [],
  action: 'erasure.create',
});

export const listErasures = operation({
  id: 'listErasures',
  method: 'get',
  path: '/sites/{site_id}/erasures',
  tag,
  summary: 'List the erasures of a site, newest first, including those by its retention period',
  roles: PROTECTORS,
  params: SiteParams,
  query: ListErasuresQuery,
  body: NoBody,
  status: 200,
  response: ErasuresPage,
  errors: [],
  action: null,
});

export const readErasure = operation({
  id: 'readErasure',
  method: 'get',
  path: '/sites/{site_id}/erasures/{erasure_id}',
  tag,
  summary: 'Get the receipt of an erasure: what was erased, and until when backups can contain the values',
  roles: PROTECTORS,
  params: ErasureParams,
  query: None,
  body: NoBody,
  status: 200,
  response: ErasureReceiptResponse,
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const listErasureAnnouncements = operation({
  id: 'listErasureAnnouncements',
  method: 'get',
  path: '/sites/{site_id}/erasures/{erasure_id}/announcements',
  tag,
  summary: 'List the SubjectErased events of an erasure, and whether each is sealed and stamped',
  roles: PROTECTORS,
  params: ErasureParams,
  query: PageQuery,
  body: NoBody,
  status: 200,
  response: AnnouncementsPage,
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const ERASURE_OPERATIONS = [listErasures, createErasure, readErasure, listErasureAnnouncements];
