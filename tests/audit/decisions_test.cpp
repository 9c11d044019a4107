#include "regroup/audit/decisions.h"

#include <gtest/gtest.h>

#include "audit/decision_testing.h"
#include "support/user_error.h"

namespace regroup {
namespace {

std::string complaint(const std::string& text, const Audit& audit = named_audit()) {
  return user_error([&] { parse_decisions(text, "d.csv", audit); });
}

std::string complaint_about(const std::string& line) { return complaint("index,part,path,decision,label\n" + line); }

TEST(Decisions, AreReadAsTheyWereWritten) {
  const Audit audit = named_audit();
  const auto decisions = many_decisions(audit, 200);
  const std::string csv = decisions_csv(decisions, audit);
  EXPECT_EQ(parse_decisions(csv, "d.csv", audit), decisions);
  EXPECT_TRUE(csv.starts_with("index,part,path,decision,label\n0,train,'-a/0.jpg,label,cat\n")) << csv;
}

TEST(Decisions, ArePlainToASpreadsheet) {
  const Audit audit = named_audit();
  EXPECT_EQ(decision_lines(std::vector{labelled(0, 1), none_of(1), cleared(6), labelled(3, 4)}, audit),
            "0,train,'-a/0.jpg,label,'=1+1\n"
            "10,train,\"b\n/\"\"1.jpg\",none,\n"
            "0,test,'-a/0.jpg,clear,\n"
            "30,train,'-a/3.jpg,label,''tis\n");
}

TEST(Decisions, ColumnsMayStandInAnyOrderAndPathsBeLeftOut) {
  const Audit audit = named_audit();
  EXPECT_EQ(parse_decisions("decision,label,part,index\r\nlabel,cat,test,10\r\nnone,,train,0\r\n", "d.csv", audit),
            (std::vector{labelled(7, 0), none_of(0)}));
  EXPECT_EQ(parse_decisions("index,part,path,decision,label\n", "d.csv", audit), std::vector<Decision>{});
}

TEST(Decisions, AClassIsItsNameBeforeItsNumber) {
  const Audit audit = named_audit();
  const std::string start = "index,part,decision,label\n0,train,label,";
  EXPECT_EQ(parse_decisions(start + "2\n", "d.csv", audit), std::vector{labelled(0, 5)});
  EXPECT_EQ(parse_decisions(start + "3\n", "d.csv", audit), std::vector{labelled(0, 3)});
  EXPECT_EQ(parse_decisions(start + "'tis\n", "d.csv", audit), std::vector{labelled(0, 4)}) << "written by hand";
}

// JSON has no such bytes, so that the page knows other names.
TEST(Decisions, NamesThatAreNoUtf8ComeBackFromThePage) {
  const Audit audit = named_audit();
  EXPECT_EQ(parse_decisions("index,part,path,decision,label\n20,train,caf\xEF\xBF\xBD/2.jpg,label,caf\xEF\xBF\xBD\n",
                            "d.csv", audit),
            std::vector{labelled(2, 6)});
}

TEST(Decisions, ClassesOfOneNameAreKnownByTheirNumbers) {
  Audit audit = named_audit();
  audit.class_names = {"crane", "dog", "crane"};
  const std::vector<Decision> decisions{labelled(0, 0), labelled(0, 1), labelled(0, 2)};
  EXPECT_EQ(parse_decisions(decisions_csv(decisions, audit), "d.csv", audit), decisions);
  EXPECT_EQ(complaint("index,part,decision,label\n0,train,label,crane\n", audit),
            "d.csv: line 2: several classes are called 'crane'; give the number of one");
  audit.class_names.emplace_back("0");
  EXPECT_EQ(
      user_error([&] { decisions_csv(decisions, audit); }),
      "two classes are called 'crane', and another one is called 0, which is the number of one of them; give them "
      "other names");
}

TEST(Decisions, SayWhatIsWrongAndWhere) {
  EXPECT_EQ(complaint(""), "d.csv: is empty; its first line has to be index,part,path,decision,label");
  EXPECT_EQ(complaint("index,part,decision\n"),
            "d.csv: line 1: no column 'label' in 'index,part,decision'; the first line has to name the columns: index, "
            "part, decision, label, path");
  EXPECT_EQ(complaint_about("0,train,-a/0.jpg,label,cat\n0,train,-a/0.jpg,none\n"),
            "d.csv: line 3: 4 fields where the first line has 5; give one for each column");
  EXPECT_EQ(complaint_about("x,train,,none,"), "d.csv: line 2: index 'x' is not a whole number");
  for (const std::string index : {"5", "-10", "60", "4294967296", "9223372036854775807"})
    EXPECT_EQ(complaint_about(index + ",train,,none,"), "d.csv: line 2: the audit has judged no label " + index +
                                                            " of 'train'; are these decisions about another dataset?");
  EXPECT_EQ(complaint_about("0,tset,,none,"),
            "d.csv: line 2: no part of the dataset is called 'tset'; known: train, val, test");
  EXPECT_EQ(complaint_about("0,train,a/0.jpg,none,"),
            "d.csv: line 2: label 0 is that of 'a/0.jpg' in the file and of '-a/0.jpg' here; the file is about another "
            "dataset, or the folder has changed");
  EXPECT_EQ(complaint_about("0,train,-a/0.jpg,maybe,"),
            "d.csv: line 2: unknown decision 'maybe'; known: label, none, clear");
  EXPECT_EQ(complaint_about("0,train,-a/0.jpg,label,"), "d.csv: line 2: no class is called ''; the first one is 'cat'");
  EXPECT_EQ(complaint_about("0,train,-a/0.jpg,label,7"),
            "d.csv: line 2: no class is called '7'; the first one is 'cat'");
  EXPECT_EQ(complaint_about("0,train,-a/0.jpg,none,cat"),
            "d.csv: line 2: the decision 'none' has the label 'cat'; leave the label empty, or decide 'label'");
}

TEST(Decisions, TheLastOneAboutASampleCounts) {
  EXPECT_EQ(standing_decisions(std::vector{labelled(3, 1), none_of(2), labelled(1, 0), cleared(2), none_of(3),
                                           cleared(1), labelled(1, 2), cleared(0)}),
            (std::vector{labelled(1, 2), none_of(3)}));
}

}  // namespace
}  // namespace regroup
