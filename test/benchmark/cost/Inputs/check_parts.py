"""check_parts.py PREDICTIONS.csv: parts of each row add up to it, and the first row, which recomputes all, takes longer than the second."""
import csv
import sys


def main():
    rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(open(sys.argv[1]))]
    for row in rows:
        parts = sum(value for name, value in row.items() if name not in ("row", "measured", "predicted", "memory"))
        print("parts add up" if abs(parts / row["predicted"] - 1) < 1e-3 else f"parts {parts}, predicted {row['predicted']}")
    print("slower" if rows[0]["predicted"] > 1.1 * rows[1]["predicted"] else "not slower")


if __name__ == "__main__":
    main()
