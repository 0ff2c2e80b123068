import { dataOf, NoBody, None, pageOf, SiteParams } from '../../../../schemas/api/panel/common.js';
import {
  ChangeConfigurationRequest,
  ConfigurationDraft,
  ConfigurationVersion,
  ConfigurationVersionParams,
  ConfigurationVersionsQuery,
  ConfigurationVersionWithRecord,
  PublishConfigurationRequest,
  ReplaceConfigurationRequest,
} from '../../../../schemas/api/panel/configuration.js';
import { EDITORS, operation, READERS } from '../operation.js';
import { BANNER_OPERATIONS } from './banner-operations.js';

const tag = 'Configuration';
const path = '/sites/{site_id}/configuration';
/** The largest draft, with the escapes of its JSON. */
const DRAFT_BODY_LIMIT = 2 * 1024 * 1024;

export const readConfiguration = operation({
  id: 'readConfiguration',
  method: 'get',
  path,
  tag,
  summary: 'Get the draft of the configuration of a site, and the problems that prevent its publication',
  description:
    'A site has one draft. Each change of the draft increases `revision`, including changes of categories, cookies and banner texts. Before the first change the draft equals the version in force.',
  roles: READERS,
  params: SiteParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(ConfigurationDraft),
  errors: [],
  action: null,
});

export const replaceConfiguration = operation({
  id: 'replaceConfiguration',
  method: 'put',
  path,
  tag,
  summary: 'Replace the draft',
  description: '`revision` is the one that was read: 409 WRONG_STATE if the draft was changed since.',
  roles: EDITORS,
  params: SiteParams,
  query: None,
  body: ReplaceConfigurationRequest,
  example: {
    controller: { legal_name: 'Example Shop Ltd', contact: 'privacy@shop.example' },
    default_language: 'en',
    languages: ['en'],
    validity_days: 365,
    banner: { en: { title: 'Cookies', accept: 'Accept', reject: 'Reject' } },
    withdrawal: { en: 'Change your choice at any time at the foot of each page.' },
    categories: [
      {
        key: 'analytics',
        required: false,
        title: { en: 'Statistics' },
        purpose: { en: 'To count visits' },
        lawful_basis: 'consent',
        personal_data: ['IP address'],
        recipients: ['Example Analytics'],
        retention_days: 390,
      },
    ],
    cookies: [
      {
        name: '_visits',
        provider: 'shop.example',
        category: 'analytics',
        party: 'first',
        duration_seconds: 31536000,
        purpose: { en: 'Tells a visit from the next' },
      },
    ],
    revision: 0,
  },
  bodyLimit: DRAFT_BODY_LIMIT,
  status: 200,
  response: dataOf(ConfigurationDraft),
  errors: ['WRONG_STATE'],
  action: 'configuration.replace',
});

export const changeConfiguration = operation({
  id: 'changeConfiguration',
  method: 'patch',
  path,
  tag,
  summary: 'Change the controller, languages or validity of the draft',
  description:
    'Absent members stay as they are. `revision` is the one that was read: 409 WRONG_STATE if the draft was changed since.',
  roles: EDITORS,
  params: SiteParams,
  query: None,
  body: ChangeConfigurationRequest,
  example: { validity_days: 180, revision: 3 },
  status: 200,
  response: dataOf(ConfigurationDraft),
  errors: ['WRONG_STATE'],
  action: 'configuration.change',
});

export const publishConfiguration = operation({
  id: 'publishConfiguration',
  method: 'post',
  path: `${path}/publish`,
  tag,
  summary: 'Publish the draft as the next version',
  description:
    'The version is in force immediately. It is written to the event log, sealed and stamped; consents refer to it by its hash. 422 VALIDATION_ERROR lists the texts that a language of the site lacks. 409 WRONG_STATE if the site is not verified, if `revision` is not that of the draft, or if nothing would change. Texts in languages that the site does not have are omitted.',
  roles: EDITORS,
  params: SiteParams,
  query: None,
  body: PublishConfigurationRequest,
  example: { revision: 4 },
  status: 201,
  response: dataOf(ConfigurationVersion),
  errors: ['WRONG_STATE'],
  action: 'configuration.publish',
});

export const listConfigurationVersions = operation({
  id: 'listConfigurationVersions',
  method: 'get',
  path: `${path}/versions`,
  tag,
  summary: 'List the published configurations of a site, newest first',
  description: '`publication` states the batch in which each version is sealed, and when it was stamped.',
  roles: READERS,
  params: SiteParams,
  query: ConfigurationVersionsQuery,
  body: NoBody,
  status: 200,
  response: pageOf(ConfigurationVersion),
  errors: [],
  action: null,
});

export const readConfigurationVersion = operation({
  id: 'readConfigurationVersion',
  method: 'get',
  path: `${path}/versions/{number}`,
  tag,
  summary: 'Get a published configuration, with the exact text of its hash',
  roles: READERS,
  params: ConfigurationVersionParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(ConfigurationVersionWithRecord),
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const CONFIGURATION_OPERATIONS = [
  readConfiguration,
  replaceConfiguration,
  changeConfiguration,
  publishConfiguration,
  listConfigurationVersions,
  readConfigurationVersion,
  ...BANNER_OPERATIONS,
];
