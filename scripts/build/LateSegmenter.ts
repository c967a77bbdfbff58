/** Letters of ASCII, each a grapheme of its own. */
const PLAIN = /^[ -~]*$/

/**
 * Stands for `Intl.Segmenter` where the command-line library makes one as it is loaded, to measure the texts of its
 * help: the making reads the data of every language, which English does not need.
 */
export class LateSegmenter {
  private readonly options: ConstructorParameters<typeof Intl.Segmenter>
  private made: Intl.Segmenter | undefined

  constructor(...options: ConstructorParameters<typeof Intl.Segmenter>) {
    this.options = options
  }

  segment(text: string): Iterable<{ readonly segment: string }> {
    if (PLAIN.test(text)) return Array.from(text, (segment) => ({ segment }))
    this.made ??= new Intl.Segmenter(...this.options)
    return this.made.segment(text)
  }
}
