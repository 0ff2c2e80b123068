import * as z from 'zod';

/** A URI reference, which the RFC wants not to be a relative *path*: absolute, or path-absolute. */
export const UriReference = z.string().regex(/^(?:https?:\/\/[^\s"<>\\^`{|}]+|\/[^\s"<>\\^`{|}]*)$/);

/** RFC 9264 §4.2.4.2 */
const Internationalized = z.array(z.strictObject({ value: z.string(), language: z.string().optional() })).min(1);

/** RFC 9264 §4.2.3 and §4.2.4: attributes of RFC 8288 once, extension attributes in arrays. */
const LinkTarget = z
  .object({
    href: UriReference,
    hreflang: z.array(z.string()).min(1).optional(),
    media: z.string().optional(),
    title: z.string().optional(),
    'title*': Internationalized.optional(),
    type: z
      .string()
      .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/)
      .optional(),
  })
  .catchall(z.union([z.array(z.string()).min(1), Internationalized]));

/**
 * Relations registered with IANA that a catalogue of APIs uses: RFC 6573, RFC 8631, RFC 9727.
 * Other relations must be URIs (RFC 8288 §2.1.2).
 */
const REGISTERED = ['item', 'api-catalog', 'service-desc', 'service-doc', 'service-meta', 'status'];
const Relation = z.union([z.enum(REGISTERED), z.url()]);

/** RFC 9264 §4.2.2 */
const LinkContext = z.object({ anchor: UriReference.optional() }).catchall(z.array(LinkTarget).min(1));

/** RFC 9264 §4.2.1: `linkset` is the only member. */
export const Linkset = z.strictObject({
  linkset: z.array(
    LinkContext.superRefine(({ anchor: _, ...relations }, context) => {
      for (const relation of Object.keys(relations)) {
        if (!Relation.safeParse(relation).success) context.addIssue(`${relation} is not a relation`);
      }
    }),
  ),
});

/**
 * RFC 9727 §4.1: a catalogue has links to API endpoints, each of which has metadata in a context of
 * its own.
 */
export const ApiCatalog = Linkset.refine(({ linkset }) => {
  const items = linkset.flatMap(({ item }) => (Array.isArray(item) ? item.map(({ href }) => href) : []));
  const anchors = linkset.map(({ anchor }) => anchor);
  return items.length > 0 && items.every((href) => anchors.includes(href));
}, 'has no links to API endpoints, or none about them');
