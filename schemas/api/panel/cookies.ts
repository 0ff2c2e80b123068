import * as z from 'zod';
import { ConsentCookie } from '../../events/site-config.js';
import { Uuid } from '../../evidence/primitives.js';
import { InputUuid } from '../common.js';
import { PageQuery, SiteParams } from './common.js';
import { DraftRevision, ExpectedRevision } from './draft-revision.js';

/** A cookie of the draft. */
export const DraftCookie = ConsentCookie.extend({ id: Uuid.describe('UUID of the object.') }).meta({
  id: 'DraftCookie',
});
export type DraftCookie = z.infer<typeof DraftCookie>;

export const CookieParams = SiteParams.extend({ cookie_id: InputUuid.describe('The cookie.') });

export const CookiesQuery = PageQuery.extend({
  category: ConsentCookie.shape.category.optional().describe('Only cookies of the category with this key.'),
});

export const CreateCookieRequest = ConsentCookie.extend(ExpectedRevision.shape);

export const ChangeCookieRequest = ConsentCookie.partial().extend(ExpectedRevision.shape);

export const CookieResponse = z.object({ data: DraftCookie, ...DraftRevision.shape }).meta({ id: 'CookieResponse' });
