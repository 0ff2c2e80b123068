import * as z from 'zod';
import { ConsentCategory } from '../../events/site-config.js';
import { SiteParams } from './common.js';
import { DraftRevision, ExpectedRevision } from './draft-revision.js';

/** A category of the draft. */
export const DraftCategory = ConsentCategory.extend({
  position: z.int().min(0).describe('Position in the banner, from 0.'),
}).meta({ id: 'DraftCategory' });
export type DraftCategory = z.infer<typeof DraftCategory>;

export const CategoryParams = SiteParams.extend({
  category_key: ConsentCategory.shape.key.describe('Key of the category.'),
});

/** If `position` is omitted, the category comes last. */
export const CreateCategoryRequest = ConsentCategory.extend({
  position: DraftCategory.shape.position.optional(),
  ...ExpectedRevision.shape,
});

/** The key cannot change, because cookies and consents name it. */
export const ChangeCategoryRequest = CreateCategoryRequest.omit({ key: true }).partial();

export const CategoryResponse = z
  .object({ data: DraftCategory, ...DraftRevision.shape })
  .meta({ id: 'CategoryResponse' });
