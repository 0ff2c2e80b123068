import type { Messages } from '../messages.js';
import { account } from './account.js';
import { audit } from './audit.js';
import { auth } from './auth.js';
import { banner } from './banner.js';
import { common } from './common.js';
import { consents } from './consents.js';
import { documents } from './documents.js';
import { erasures } from './erasures.js';
import { errors } from './errors.js';
import { evidence } from './evidence.js';
import { fieldMessages } from './field-messages.js';
import { finder } from './finder.js';
import { keys } from './keys.js';
import { overview } from './overview.js';
import { passkeys } from './passkeys.js';
import { plan } from './plan.js';
import { rules } from './rules.js';
import { scans } from './scans.js';
import { secondFactor } from './second-factor.js';
import { shell } from './shell.js';
import { signUp } from './sign-up.js';
import { sites } from './sites.js';
import { statistics } from './statistics.js';
import { team } from './team.js';
import { timestamps } from './timestamps.js';
import { webhooks } from './webhooks.js';
import { wizard } from './wizard.js';

export const tr: Messages = {
  account,
  audit,
  auth,
  banner,
  common,
  consents,
  documents,
  erasures,
  errors,
  evidence,
  fieldMessages,
  finder,
  keys,
  overview,
  passkeys,
  plan,
  rules,
  scans,
  secondFactor,
  shell,
  signUp,
  sites,
  statistics,
  team,
  timestamps,
  webhooks,
  wizard,
};
