// SPDX-License-Identifier: GPL-2.0-or-later
//
// java Reader LOG: reads a histogram log with the HdrHistogram library and
// writes what it found to the current folder, for comparison:
// read      per interval its tag, times, total, percentiles and all counts
// copy.hdr  the log, written again by the library
// sum.hgrm  the percentile table of the sum of all intervals without a tag

import java.io.File;
import java.io.PrintStream;
import java.util.Locale;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.HdrHistogram.HistogramLogReader;
import org.HdrHistogram.HistogramLogWriter;

public class Reader {
    private static final double[] PERCENTILES = {50, 95, 99, 99.9, 100};

    private static void print(PrintStream out, Histogram h) {
        String tag = h.getTag() == null ? "-" : h.getTag();
        out.printf(Locale.ROOT, "interval %s %d %d total %d min %d max %d%n", tag,
            h.getStartTimeStamp(), h.getEndTimeStamp(), h.getTotalCount(),
            h.getTotalCount() == 0 ? 0 : h.lowestEquivalentValue(h.getMinValue()),
            h.getMaxValue());
        for (double percentile : PERCENTILES)
            out.printf(Locale.ROOT, "percentile %.1f %d%n", percentile,
                h.getValueAtPercentile(percentile));
        for (HistogramIterationValue v : h.recordedValues())
            out.println("count " + h.lowestEquivalentValue(v.getValueIteratedTo())
                + " " + v.getCountAtValueIteratedTo());
    }

    public static void main(String[] args) throws Exception {
        HistogramLogReader reader = new HistogramLogReader(new File(args[0]));
        HistogramLogWriter writer = new HistogramLogWriter("copy.hdr");
        Histogram sum = null;

        try (PrintStream out = new PrintStream("read")) {
            for (;;) {
                EncodableHistogram next = reader.nextIntervalHistogram();
                if (next == null)
                    break;
                Histogram h = (Histogram) next;
                if (sum == null) {
                    long start = (long) (reader.getStartTimeSec() * 1000 + 0.5);
                    out.println("started " + start + ", " + h.getLowestDiscernibleValue()
                        + " to " + h.getHighestTrackableValue() + ", digits "
                        + h.getNumberOfSignificantValueDigits());
                    writer.outputLogFormatVersion();
                    writer.outputStartTime(start);
                    writer.outputBaseTime(start);
                    writer.outputLegend();
                    writer.setBaseTime(start);
                    sum = new Histogram(1, h.getHighestTrackableValue(), 3);
                }
                print(out, h);
                writer.outputIntervalHistogram(h);
                if (h.getTag() == null)
                    sum.add(h);
            }
        }
        writer.close();
        try (PrintStream table = new PrintStream("sum.hgrm")) {
            sum.outputPercentileDistribution(table, 1e6);
        }
    }
}
