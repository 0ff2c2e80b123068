import { dataOf, NoBody, None, PageQuery, pageOf, SiteParams } from '../../../../schemas/api/panel/common.js';
import {
  ChangeSiteRequest,
  CreateSiteRequest,
  DomainVerification,
  RetentionRules,
  Site,
} from '../../../../schemas/api/panel/sites.js';
import { EDITORS, operation, PROTECTORS, READERS } from '../operation.js';

const tag = 'Sites';

export const listSites = operation({
  id: 'listSites',
  method: 'get',
  path: '/sites',
  tag,
  summary: 'List the sites of the tenant, oldest first',
  roles: READERS,
  params: None,
  query: PageQuery,
  body: NoBody,
  status: 200,
  response: pageOf(Site),
  errors: [],
  action: null,
});

export const createSite = operation({
  id: 'createSite',
  method: 'post',
  path: '/sites',
  tag,
  summary: 'Create a site',
  description:
    'The site can record consents once its domain is verified and a configuration is published. Sites are never deleted, because the evidence of their consents remains.',
  roles: EDITORS,
  params: None,
  query: None,
  body: CreateSiteRequest,
  example: { name: 'Shop', domain: 'shop.example', allowed_origins: ['https://shop.example'] },
  status: 201,
  response: dataOf(Site),
  errors: [],
  action: 'site.create',
});

export const readSite = operation({
  id: 'readSite',
  method: 'get',
  path: '/sites/{site_id}',
  tag,
  summary: 'Get a site',
  roles: READERS,
  params: SiteParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(Site),
  errors: [],
  action: null,
});

export const changeSite = operation({
  id: 'changeSite',
  method: 'patch',
  path: '/sites/{site_id}',
  tag,
  summary: 'Change settings of a site',
  description:
    'Absent members stay as they are. A new domain is not verified: the Tool API returns 403 SITE_NOT_VERIFIED until it is. The retention period has an operation of its own.',
  roles: EDITORS,
  params: SiteParams,
  query: None,
  body: ChangeSiteRequest,
  example: { name: 'The shop', allowed_ips: ['192.0.2.0/24'] },
  status: 200,
  response: dataOf(Site),
  errors: [],
  action: 'site.change',
});

export const changeRetentionPeriod = operation({
  id: 'changeRetentionPeriod',
  method: 'put',
  path: '/sites/{site_id}/retention-period',
  tag,
  summary: 'Set the site’s retention period',
  description:
    'Personal data of older records is erased within an hour of the change, permanently; therefore the operation requires a role that may erase. The audit log has the period before and after.',
  roles: PROTECTORS,
  params: SiteParams,
  query: None,
  body: RetentionRules,
  example: { retention_days: 1095 },
  status: 200,
  response: dataOf(Site),
  errors: [],
  action: 'site.change_retention_period',
});

export const readDomainVerification = operation({
  id: 'readDomainVerification',
  method: 'get',
  path: '/sites/{site_id}/domain-verification',
  tag,
  summary: 'Get the DNS record that proves the ownership of the domain',
  roles: READERS,
  params: SiteParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(DomainVerification),
  errors: [],
  action: null,
});

export const verifyDomain = operation({
  id: 'verifyDomain',
  method: 'post',
  path: '/sites/{site_id}/domain-verification',
  tag,
  summary: 'Verify the domain of a site by its DNS record',
  description:
    'If the configuration in force has another domain, it is published again with this domain, so that evidence states where a consent was given.',
  roles: EDITORS,
  params: SiteParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(DomainVerification),
  errors: ['DOMAIN_NOT_VERIFIED', 'DNS_UNAVAILABLE', 'WRONG_STATE'],
  action: 'site.verify',
});

export const SITE_OPERATIONS = [
  listSites,
  createSite,
  readSite,
  changeSite,
  changeRetentionPeriod,
  readDomainVerification,
  verifyDomain,
];
